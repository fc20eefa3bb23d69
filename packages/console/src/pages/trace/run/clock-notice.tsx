import { Notice } from '../../../components/notice.tsx';

/** Says so where the browser's clock is too coarse to tell short calls apart: https://www.w3.org/TR/hr-time-3/#clock-resolution */
export function ClockNotice() {
  if (crossOriginIsolated) return null;
  return (
    <Notice kind="warning" title="The clock is coarse here">
      <p>
        The browser doesn’t isolate this page from others, so its clock goes on by a tenth of a millisecond or more, and
        shorter calls can’t be told from none. A run that is stopped leaves no trace.
      </p>
      <p>
        {isSecureContext ? (
          <>
            Something between here and the server takes the fields <code>cross-origin-opener-policy</code> and{' '}
            <code>cross-origin-embedder-policy</code> off its answers.
          </>
        ) : (
          'Browsers isolate pages over https alone, or from this machine.'
        )}
      </p>
    </Notice>
  );
}
