import type { StreamName } from '@tenon/run-kit';
import { unsafeCharacters } from '@tenon/trace/unsafe-characters';

/** The output of a program as text. */
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

/** One stream of output. */
export function TextOutput(props: { readonly title: string; readonly text: string; readonly isCut?: boolean }) {
  const { title, text, isCut = false } = props;
  return (
    <div class="trace-output">
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach scrollable text */}
      <pre tabIndex={0}>{plain(text)}</pre>
      {isCut ? <p class="soft small">Further output is not shown.</p> : null}
    </div>
  );
}

/** Removes the colour codes of terminals, and replaces other invisible characters. */
function plain(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/\p{Cc}\[[0-9;?]*[ -/]*[@-~]/gu, '')
    .replace(unsafeCharacters, (character) => (/[\t\n]/.test(character) ? character : '\ufffd'));
}
