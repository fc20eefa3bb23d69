/** A tenon, just before it goes into its mortise. */
export function Logo({ size = 28 }: { readonly size?: number }) {
  return (
    <svg class="logo" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <path class="logo-rail" d="M2 7h13v5h6.5v8H15v5H2z" />
      <path class="logo-post" d="M17 3h13v26H17v-7.5h6.5v-11H17z" />
    </svg>
  );
}
