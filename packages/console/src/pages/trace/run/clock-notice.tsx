import { Notice } from '../../../components/notice.tsx';

/** A warning if the clock is too coarse for short calls: https://www.w3.org/TR/hr-time-3/#clock-resolution */
export function ClockNotice() {
  if (crossOriginIsolated) return null;
  return (
    <Notice kind="warning" title="Low timer resolution">
      <p>
        The browser doesn’t isolate this page from others, so its timer has a resolution of 0.1 ms or worse, and shorter
        calls seem to take no time. A run that you stop leaves no trace.
      </p>
      <p>
        {isSecureContext ? (
          <>
            A proxy removes the headers <code>cross-origin-opener-policy</code> and{' '}
            <code>cross-origin-embedder-policy</code> from the server’s responses.
          </>
        ) : (
          'Browsers isolate pages only over https or on localhost.'
        )}
      </p>
    </Notice>
  );
}
