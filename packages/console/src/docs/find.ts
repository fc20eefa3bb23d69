/** A section of a page. `path` is relative to `docs/`, with an anchor. */
export interface Section {
  readonly path: string;
  readonly page: string;
  /** Empty for the text before the first heading. */
  readonly title: string;
  readonly text: string;
}

export interface Hit {
  readonly section: Section;
  /** Text around the first word that was found. */
  readonly excerpt: string;
}

const maxHits = 20;
const excerptLength = 140;

/** Finds the sections that contain all words, the best first: words in titles count more than words in the text. */
export function find(sections: readonly Section[], query: string): readonly Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const scored = sections.flatMap((section) => {
    const score = scoreOf(section, words);
    return score === 0 ? [] : [{ section, score }];
  });
  scored.sort((a, b) => b.score - a.score);
  return scored.slice(0, maxHits).map(({ section }) => ({ section, excerpt: excerptOf(section.text, words) }));
}

/** Zero if a word is missing. */
function scoreOf({ path, page, title, text }: Section, words: readonly string[]): number {
  const [pageTitle, own, body] = [page.toLowerCase(), title.toLowerCase(), text.toLowerCase()];
  let score = 0;
  for (const word of words) {
    const inPage = pageTitle.includes(word) ? (title === '' ? 8 : 2) : 0;
    const inTitle = own.includes(word) ? 6 : 0;
    const inText = body.includes(word) ? 1 : 0;
    if (inPage + inTitle + inText === 0) return 0;
    score += inPage + inTitle + inText;
  }
  if (`${own || pageTitle}`.startsWith(words.join(' '))) score += 6;
  return path.startsWith('decisions/') || path.startsWith('changelog') ? score / 4 : score;
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const found = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...found, text.length) - 40);
  if (found.length === 0 || start === 0) return shorten(text, excerptLength);
  const from = text.indexOf(' ', start) + 1;
  return `… ${shorten(text.slice(from), excerptLength)}`;
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, text.lastIndexOf(' ', length))} …`;
}
