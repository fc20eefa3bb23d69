// The little of Markdown that the checks on documentation need: fenced code, headings, links.

/** @typedef {{ language: string, code: string, line: number }} CodeBlock `line` is that of the code's first line, from 1 */

/**
 * @param {string} markdown
 * @returns {CodeBlock[]}
 */
export function codeBlocks(markdown) {
  /** @type {CodeBlock[]} */
  const blocks = [];
  /** @type {{ fence: string, language: string, lines: string[], line: number } | undefined} */
  let open;
  for (const [index, text] of markdown.split('\n').entries()) {
    const fence = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(text);
    if (open === undefined) {
      if (fence) open = { fence: fence[1] ?? '', language: fence[2] ?? '', lines: [], line: index + 2 };
    } else if (fence && fence[2] === '' && fence[1]?.startsWith(open.fence)) {
      blocks.push({ language: open.language, code: `${open.lines.join('\n')}\n`, line: open.line });
      open = undefined;
    } else {
      open.lines.push(text);
    }
  }
  return blocks;
}

/**
 * @param {string} markdown
 * @returns {Set<string>} what `#…` may name: the headings as forges make anchors of them
 */
export function anchors(markdown) {
  const slug = slugger();
  return new Set([...withoutCode(markdown).matchAll(/^#{1,6}\s+(.+?)\s*$/gm)].map((match) => slug(match[1] ?? '')));
}

/**
 * @returns {(heading: string) => string} makes the anchors of one page's headings, in their order; each is unique
 */
export function slugger() {
  const names = new Set();
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let name = slug;
    for (let copy = 1; names.has(name); copy++) name = `${slug}-${copy}`;
    names.add(name);
    return name;
  };
}

/**
 * @param {string} markdown
 * @returns {{ target: string, line: number }[]} the targets of links and images that stand in the text, not in code
 */
export function links(markdown) {
  const text = withoutCode(markdown);
  return [...text.matchAll(/\]\(([^()\s]+(?:\([^()\s]*\))?)\)/g)].map((match) => ({
    target: match[1] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }));
}

/**
 * Empties fenced code and code spans; lines keep their numbers.
 *
 * @param {string} markdown
 */
function withoutCode(markdown) {
  return markdown
    .replace(/^\s*(`{3,}|~{3,})[\s\S]*?^\s*\1\s*$/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]+`/g, (span) => (span.includes('](') ? '' : span));
}
