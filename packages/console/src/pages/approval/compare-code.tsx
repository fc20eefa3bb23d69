/** A code to compare, spelled out for screen readers. */
export function CompareCode({ code }: { readonly code: string }) {
  return (
    <p class="compare-code">
      <span aria-hidden="true">{code}</span>
      <span class="visually-hidden">{[...code].join(' ').replace('-', ',')}</span>
    </p>
  );
}
