import type { EditConflict, EditedField } from '../state/use-edit.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { LineDiff } from './line-diff-view.tsx';

/** Shows what others changed since the form was opened, next to the form's values. */
export function ConflictDialog<T>(props: {
  readonly conflict: EditConflict<T> | undefined;
  readonly fieldsOf: (state: T) => readonly EditedField[];
  /** The form's fields, in the order of `fieldsOf`. */
  readonly mine: readonly EditedField[];
  /** Keeps the form's changes, on top of the stored state. */
  readonly onKeep: () => void;
  /** Replaces the form's changes with the stored state. */
  readonly onDiscard: () => void;
}) {
  const { conflict, fieldsOf, mine, onKeep, onDiscard } = props;
  if (conflict === undefined) return null;
  const [before, now] = [fieldsOf(conflict.base), fieldsOf(conflict.now)];
  const fields = mine.map(({ label, text }, at) => {
    const [from, to] = [before[at]?.text ?? '', now[at]?.text ?? ''];
    return { label, text, from, to, isTheirs: from !== to, isMine: text !== from && text !== to };
  });
  return (
    <Dialog isWide title="This was changed meanwhile" onClose={onKeep}>
      <div class="stack">
        <p>Nothing is saved yet. These fields have changed since you opened this form:</p>
        {fields
          .filter(({ isTheirs }) => isTheirs)
          .map(({ label, text, from, to, isMine }) => (
            <section key={label} class="stack">
              <h3>{label}</h3>
              <LineDiff title="There now, compared with what you started from" from={from} to={to} />
              {isMine ? <LineDiff title="Yours, compared with what is there now" from={to} to={text} /> : null}
              <p class="soft small">
                {isMine
                  ? 'If you keep editing, the form keeps yours. Saving it replaces what is there now.'
                  : 'If you keep editing, the form takes over what is there now.'}
              </p>
            </section>
          ))}
        <div class="actions actions-end">
          <Button kind="danger" onClick={onDiscard}>
            Discard my changes
          </Button>
          <Button onClick={onKeep}>Keep editing</Button>
        </div>
      </div>
    </Dialog>
  );
}
