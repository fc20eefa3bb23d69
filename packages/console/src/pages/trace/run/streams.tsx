import { unsafeCharacters } from '@tenon/trace/unsafe-characters';
import type { StreamName } from './messages.ts';

/** What a program has written to its streams: as text, whatever it is. */
export function Streams(props: {
  readonly text: Readonly<Record<StreamName, string>>;
  readonly isCut: Readonly<Record<StreamName, boolean>>;
}) {
  return (
    <>
      {(['stdout', 'stderr'] as const).map((stream) =>
        props.text[stream] === '' ? null : (
          <TextOutput
            key={stream}
            title={stream === 'stdout' ? 'Standard output' : 'Standard error'}
            text={props.text[stream]}
            isCut={props.isCut[stream]}
          />
        ),
      )}
    </>
  );
}

/** What a module has put out. */
export function TextOutput(props: { readonly title: string; readonly text: string; readonly isCut?: boolean }) {
  const { title, text, isCut = false } = props;
  return (
    <div class="trace-output">
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <pre tabIndex={0}>{plain(text)}</pre>
      {isCut ? <p class="soft small">It wrote more, which is not shown.</p> : null}
    </div>
  );
}

/** Without what terminals read as colours, and with every other character that can't be seen made visible. */
function plain(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/\p{Cc}\[[0-9;?]*[ -/]*[@-~]/gu, '')
    .replace(unsafeCharacters, (character) => (/[\t\n]/.test(character) ? character : '\ufffd'));
}
