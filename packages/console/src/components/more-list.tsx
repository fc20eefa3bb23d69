import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { count } from './count.ts';

/** The first items of a list, and a button that shows more. */
export function MoreList<Item>(props: {
  readonly items: readonly Item[];
  /** How many are shown at first, and with each press of the button. */
  readonly step: number;
  /** What the list holds: "calls". */
  readonly noun: string;
  readonly children: (item: Item, at: number) => ComponentChildren;
}) {
  const { items, step, noun, children } = props;
  const [shown, setShown] = useState(step);
  const more = items.length - shown;
  return (
    <>
      <ul>
        {items.slice(0, shown).map((item, at) => (
          <li key={at}>{children(item, at)}</li>
        ))}
      </ul>
      {more <= 0 ? null : (
        <Button kind="quiet" isSmall onClick={() => setShown(shown + step)}>
          Show {count(Math.min(more, step))} more of {count(items.length)} {noun}
        </Button>
      )}
    </>
  );
}
