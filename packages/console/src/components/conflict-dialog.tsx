import { useId } from 'preact/hooks';
import type { EditConflict, EditedField } from '../state/use-edit.ts';
import { Button } from './button.tsx';
import './conflict-dialog.css';
import { Dialog } from './dialog.tsx';
import { diffLines } from './line-diff.ts';

/** Shows what others have changed while a form was filled in, beside what is in the form. */
export function ConflictDialog<T>(props: {
  readonly conflict: EditConflict<T> | undefined;
  readonly fieldsOf: (state: T) => readonly EditedField[];
  /** The form's fields, in the order of `fieldsOf`. */
  readonly mine: readonly EditedField[];
  /** The form goes on with its own changes, on top of the present state. */
  readonly onKeep: () => void;
  /** The form goes on with the present state alone. */
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
        <p>Nothing is saved yet. Since you opened this form, these fields were changed:</p>
        {fields
          .filter(({ isTheirs }) => isTheirs)
          .map(({ label, text, from, to, isMine }) => (
            <section key={label} class="stack conflict-field">
              <h3>{label}</h3>
              <Diff title="There now, compared with what you started from" from={from} to={to} />
              {isMine ? <Diff title="Yours, compared with what is there now" from={to} to={text} /> : null}
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

function Diff({ title, from, to }: { readonly title: string; readonly from: string; readonly to: string }) {
  const id = useId();
  return (
    <div>
      <p class="small" id={id}>
        {title}:
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by keyboard too */}
      <section class="diff" aria-labelledby={id} tabIndex={0}>
        {diffLines(from, to).map(({ kind, text }, at) => (
          <DiffRow key={at} kind={kind} text={text} />
        ))}
      </section>
    </div>
  );
}

function DiffRow({ kind, text }: ReturnType<typeof diffLines>[number]) {
  if (kind === 'gap') return <div class="diff-gap">…</div>;
  if (kind === 'same') return <div class="diff-same">{text}</div>;
  if (kind === 'removed') {
    return (
      <del class="diff-removed">
        <span class="visually-hidden">removed: </span>
        {text}
      </del>
    );
  }
  return (
    <ins class="diff-added">
      <span class="visually-hidden">added: </span>
      {text}
    </ins>
  );
}
