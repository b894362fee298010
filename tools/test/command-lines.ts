/** The command lines of our programs on a page, as words: those in code blocks and those in the text. */
export function commandLines(page: string): readonly (readonly string[])[] {
  const blocks = [...page.matchAll(/^```(\w*)\n([^]*?)^```/gm)];
  const inBlocks = blocks
    .filter(([, language]) => language !== 'mermaid')
    .flatMap(([, , text = '']) => text.replace(/\\\n/g, ' ').split('\n'));
  const prose = page.replace(/^```[^]*?^```/gm, '');
  const inProse = [...prose.matchAll(/`(sallyport(?:-gateway)? [^`]+)`/g)].map(([, line = '']) => line);
  return [...inBlocks, ...inProse.flatMap(alternatives)]
    .flatMap(commandsOf)
    .filter(([name]) => name === 'sallyport' || name === 'sallyport-gateway');
}

/** `config get\|set KEY` in a table stands for two lines; `[--flag]` for one with the flag. */
function alternatives(line: string): readonly string[] {
  const plain = line.replaceAll('\\|', '|').replace(/\[|\]|\.\.\./g, '');
  const [whole] = /(?<=^|\s)[^\s|]+(\|[^\s|]+)+/.exec(plain) ?? [];
  if (whole === undefined) return [plain];
  return whole.split('|').flatMap((one) => alternatives(plain.replace(whole, one)));
}

/** The commands of a shell line, apart at pipes and such; a comment ends it. */
function commandsOf(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  for (const [token] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"|<>;&])+|[|<>;&]+/g)) {
    if (token.startsWith('#')) break;
    if (/^[|<>;&]/.test(token)) commands.push([]);
    else commands.at(-1)?.push(token.replace(/['"]/g, ''));
  }
  return commands.map((words) => words.filter((word, at) => at > 0 || !/^(\$|npx)$/.test(word)));
}
