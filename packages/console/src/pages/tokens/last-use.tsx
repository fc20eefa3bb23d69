import { Time } from '../../components/time.tsx';

/** When and from which network address a credential was last used. */
export function LastUse({ at, address }: { readonly at: string | null; readonly address?: string | null | undefined }) {
  return (
    <>
      <Time at={at} />
      {address === undefined || address === null ? null : (
        <>
          {' '}
          <code class="small">{address}</code>
        </>
      )}
    </>
  );
}
