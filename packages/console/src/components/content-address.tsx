import { CopyButton } from './copy-button.tsx';

/** A content address by its beginning, with all of it to look at and to copy. */
export function ContentAddressView({ address }: { readonly address: string }) {
  return (
    <span class="short-address">
      <code title={address}>{address.slice(0, 10)}…</code> <CopyButton text={address} what="the content address" />
    </span>
  );
}
