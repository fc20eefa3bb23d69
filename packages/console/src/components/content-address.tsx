import { CopyButton } from './copy-button.tsx';

/** A shortened content address with a copy button. */
export function ContentAddressView({ address }: { readonly address: string }) {
  return (
    <span class="short-address">
      <code title={address}>{address.slice(0, 10)}…</code> <CopyButton text={address} what="the content address" />
    </span>
  );
}
