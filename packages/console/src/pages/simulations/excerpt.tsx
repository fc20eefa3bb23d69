import type { Excerpt, HostValue } from '@tenon/protocol';
import { visible } from '@tenon/trace/unsafe-characters';
import { byteSize } from '../../components/byte-size.ts';

/** The start of a value that a plugin took or returned. It is untrusted. */
export function ExcerptView({ value }: { readonly value: Excerpt }) {
  const { text, base64 = '', size } = value;
  if (size === 0) return <span class="soft">empty</span>;
  const isCut = size > (text === null ? (base64.length / 4) * 3 : new TextEncoder().encode(text).length);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <div class="sim-text" tabIndex={0}>
        {text === null ? base64 : visibleLines(text)}
      </div>
      {text !== null && !isCut ? null : (
        <span class="soft small">
          {text === null ? 'Base64' : ''}
          {text === null && isCut ? ', ' : ''}
          {isCut ? `the start of ${byteSize(size)}` : ''}
        </span>
      )}
    </>
  );
}

/** A text of several lines that is safe to show. */
export function visibleLines(text: string): string {
  return text.replace(/[^\n\t]+/g, visible);
}

/** A parameter or result of a host function, as fixtures write it. */
export function hostValueText(value: HostValue | null): string {
  return value === null ? 'nothing' : visible(JSON.stringify(value));
}
