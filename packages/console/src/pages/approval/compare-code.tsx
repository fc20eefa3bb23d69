/** A code to compare with another one, letter by letter: large, and spelled where it is read aloud. */
export function CompareCode({ code }: { readonly code: string }) {
  return (
    <p class="compare-code">
      <span aria-hidden="true">{code}</span>
      <span class="visually-hidden">{[...code].join(' ').replace('-', ',')}</span>
    </p>
  );
}
