import { CopyButton } from './copy-button.tsx';

/** Something to run in a terminal, or to put in a program, with a button that copies it. */
export function Command({ text, what = 'the command' }: { readonly text: string; readonly what?: string }) {
  return (
    <div class="command">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
