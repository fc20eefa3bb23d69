import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { MarkdownOptions } from './render.tsx';
import './markdown.css';

type Render = (text: string, options: MarkdownOptions) => ComponentChildren;

/** The renderer, once it is loaded. */
let loaded: Render | undefined;

/** Text without any of these characters looks the same as Markdown. */
const syntax =
  /[*_`~#>|<\\[\]&@\r\u2028\u2029]|^[ \t]*(?:[-+]|\d+[.)])[ \t]|\n[ \t]*\n|https?:|www\.|^[ \t]*[-=]+[ \t]*$/m;

/**
 * Untrusted Markdown. It is rendered as elements, never as HTML: HTML in it is shown as text, images become links, and links lead to
 * http, https, and mailto only. The code is loaded on demand; until then, the text is shown as it is.
 */
export function Markdown({ text, headingLevel = 3 }: { readonly text: string } & Partial<MarkdownOptions>) {
  const isPlain = useMemo(() => !syntax.test(text), [text]);
  const [render, setRender] = useState<Render | undefined>(() => loaded);
  useEffect(() => {
    if (isPlain || render !== undefined) return undefined;
    let isGone = false;
    import('./render.tsx').then(
      ({ renderMarkdown }) => {
        loaded = renderMarkdown;
        if (!isGone) setRender(() => renderMarkdown);
      },
      () => {}, // the text stays as it is
    );
    return () => {
      isGone = true;
    };
  }, [isPlain, render]);
  const content = useMemo(
    () => (isPlain || render === undefined ? undefined : render(text, { headingLevel })),
    [text, isPlain, render, headingLevel],
  );
  return <div class="markdown">{content ?? <p class="markdown-plain">{text.trim()}</p>}</div>;
}
