/** Splits a command line at spaces outside of quotes, as shells do. */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  const pattern = /((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)|(["'\\].*)/gs;
  for (const [word] of text.matchAll(pattern)) words.push(unquoted(word));
  return words;
}

function unquoted(word: string): string {
  return word.replaceAll(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/gs, (_, escaped, double, single) => {
    if (escaped !== undefined) return escaped;
    return single ?? double.replaceAll(/\\(["\\$`])/g, '$1');
  });
}

/** Parses one `NAME=value` per line. Other lines are ignored. */
export function readVariables(text: string): [name: string, value: string][] {
  return text.split('\n').flatMap((line): [string, string][] => {
    const at = line.indexOf('=');
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trimEnd()]];
  });
}
