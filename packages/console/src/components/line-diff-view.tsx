import { useId } from 'preact/hooks';
import { diffLines } from './line-diff.ts';
import './line-diff-view.css';

/** The lines by which two texts differ. */
export function LineDiff({ title, from, to }: { readonly title: string; readonly from: string; readonly to: string }) {
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
