/**
 * A rule of ESLint against `for (const call of [first(), second()]) await call`: while one is waited for nobody handles the
 * next, which ends the program if it is refused meanwhile. It shows only on a day when the first is the slower one.
 *
 * @type {import('eslint').Rule.RuleModule}
 */
export const promisesInTurn = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { inTurn: 'Wait for all of them at once (Promise.all), or make each call in the loop.' },
  },
  create(context) {
    const { getTypeAtLocation } = context.sourceCode.parserServices;
    return {
      ForOfStatement({ await: isAsync, right }) {
        if (isAsync) return;
        const element = getTypeAtLocation(right).getNumberIndexType();
        if (element?.getProperty('then')) context.report({ node: right, messageId: 'inTurn' });
      },
    };
  },
};
