import { CopyButton } from './copy-button.tsx';

/** A command or a code sample with a copy button. */
export function CommandBlock({
  command,
  what = 'the command',
}: {
  readonly command: string;
  /** "the login command" */
  readonly what?: string;
}) {
  return (
    <div class="command">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <pre tabIndex={0}>
        <code>{command}</code>
      </pre>
      <CopyButton text={command} what={what} />
    </div>
  );
}
