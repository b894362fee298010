import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/**
 * The doc comments of the members of an interface, or of what a function returns, by dotted path: `failures.tokens`. So a
 * reference says what the source says.
 */
export function docComments(file: string, name: string): ReadonlyMap<string, string> {
  const path = join(import.meta.dirname, '../..', file);
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const comments = new Map<string, string>();

  function read(node: ts.Node, prefix: string): void {
    ts.forEachChild(node, (child) => {
      if (!ts.isPropertySignature(child) && !ts.isPropertyAssignment(child)) return read(child, prefix);
      const key = `${prefix}${child.name.getText()}`;
      const comment = ts
        .getJSDocCommentsAndTags(child)
        .map((doc) => ts.getTextOfJSDocComment(doc.comment) ?? '')
        .join(' ');
      if (comment !== '') comments.set(key, comment.replaceAll(/\s+/g, ' '));
      read(child, `${key}.`);
    });
  }

  for (const statement of source.statements) {
    const isNamed = ts.isInterfaceDeclaration(statement) || ts.isFunctionDeclaration(statement);
    if (isNamed && statement.name?.text === name) read(statement, '');
  }
  return comments;
}
