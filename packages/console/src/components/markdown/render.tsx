import { Lexer, type Token, type Tokens } from 'marked';
import { type ComponentChildren, Fragment, h } from 'preact';

export interface MarkdownOptions {
  /** The level of the text's highest headings. */
  readonly headingLevel: number;
}

interface Context extends MarkdownOptions {
  /** The levels of headings that occur, ascending. */
  readonly levels: readonly number[];
}

/** Deeper nesting is shown as text: the parser and the browser recurse. */
const maxDepth = 30;

/** Renders Markdown as elements. Text that the parser fails on is shown as it is. */
export function renderMarkdown(text: string, options: MarkdownOptions): ComponentChildren {
  if (isTooDeep(text)) return <p class="markdown-plain">{text.trim()}</p>;
  try {
    const tokens = new Lexer({ gfm: true }).lex(text);
    const levels = [...new Set(tokens.filter(isHeading).map(({ depth }) => depth))].sort();
    return blocks(tokens, { ...options, levels }, 0);
  } catch {
    return <p class="markdown-plain">{text.trim()}</p>;
  }
}

/** The parser's time grows with the square of the nesting, and its stack with the nesting. */
function isTooDeep(text: string): boolean {
  return new RegExp(`^(?:[ \\t]*(?:>|[-+*][ \\t]|\\d+[.)][ \\t])){${maxDepth}}|[*_~\\[!]{200}`, 'm').test(text);
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';

function blocks(tokens: readonly Token[], context: Context, depth: number): ComponentChildren {
  if (depth > maxDepth) return textOf(tokens);
  return tokens.map((token, at) => <Fragment key={at}>{block(token as Tokens.Generic, context, depth + 1)}</Fragment>);
}

function block(token: Tokens.Generic, context: Context, depth: number): ComponentChildren {
  const inner = () => inline(token.tokens ?? [], depth);
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      const rank = Math.max(0, context.levels.indexOf(token.depth));
      return h(`h${Math.min(6, context.headingLevel + rank)}`, {}, inner());
    }
    case 'paragraph':
      return <p>{inner()}</p>;
    case 'blockquote':
      return <blockquote>{blocks(token.tokens ?? [], context, depth)}</blockquote>;
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the keyboard
        <pre tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      );
    case 'hr':
      return <hr />;
    case 'list':
      return list(token as Tokens.List, context, depth);
    case 'table':
      return table(token as Tokens.Table, depth);
    case 'text':
      return token.tokens === undefined ? decode(token.text) : inner();
    default: // HTML too
      return <p class="markdown-plain">{String(token.raw).trim()}</p>;
  }
}

function list({ ordered, start, items }: Tokens.List, context: Context, depth: number): ComponentChildren {
  const entries = items.map((item, at) => (
    <li key={at}>
      {item.task ? (item.checked ? '☑ ' : '☐ ') : null}
      {blocks(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        context,
        depth,
      )}
    </li>
  ));
  return ordered ? <ol start={typeof start === 'number' ? start : 1}>{entries}</ol> : <ul>{entries}</ul>;
}

function table({ header, rows }: Tokens.Table, depth: number): ComponentChildren {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the keyboard
    <section class="markdown-table" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map(({ tokens }, at) => (
              <th key={at} scope="col">
                {inline(tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map(({ tokens }, cell) => (
                <td key={cell}>{inline(tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function inline(tokens: readonly Token[], depth: number): ComponentChildren {
  if (depth > maxDepth) return textOf(tokens);
  return tokens.map((token, at) => <Fragment key={at}>{span(token as Tokens.Generic, depth + 1)}</Fragment>);
}

function span(token: Tokens.Generic, depth: number): ComponentChildren {
  const inner = () => inline(token.tokens ?? [], depth);
  switch (token.type) {
    case 'strong':
      return <strong>{inner()}</strong>;
    case 'em':
      return <em>{inner()}</em>;
    case 'del':
      return <del>{inner()}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <SafeLink href={token.href}>{inner()}</SafeLink>;
    case 'image':
      return <SafeLink href={token.href}>{decode(token.text) || 'image'}</SafeLink>;
    case 'escape':
      return token.text;
    case 'text':
      return token.tokens === undefined ? decode(token.text) : inner();
    default: // HTML too
      return String(token.raw);
  }
}

/** A link to http, https, or mailto; for any other target, only its text. */
function SafeLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  const url = URL.parse(href);
  const isSafe = url !== null && ['https:', 'http:', 'mailto:'].includes(url.protocol);
  if (!isSafe) return <>{children}</>;
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow ugc" title={url.href}>
      {children}
    </a>
  );
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ raw }) => raw).join('');
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Replaces the common character references; others stay as they are. The result is text, never HTML. */
function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
