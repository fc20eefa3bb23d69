import { ApiError } from '../api/api-error.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

/** An error in words; by the request id an operator finds what the words leave out. */
export function ErrorView({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}) {
  if (error === undefined || error === null) return null;
  const { title, detail, requestId } = describe(error);
  return (
    <Notice kind="failed" title={title}>
      <p>{detail}</p>
      {error instanceof ApiError && error.errors.length > 0 ? (
        <ul>
          {error.errors.map((fault) => (
            <li key={fault.pointer}>{fault.detail}</li>
          ))}
        </ul>
      ) : null}
      {requestId === undefined ? null : (
        <p class="soft small">
          Request <code>{requestId}</code>
        </p>
      )}
      {onRetry === undefined ? null : (
        <Button kind="quiet" isSmall onClick={onRetry}>
          Try again
        </Button>
      )}
    </Notice>
  );
}

interface Description {
  readonly title: string;
  readonly detail: string;
  readonly requestId?: string | undefined;
}

function describe(error: unknown): Description {
  if (!(error instanceof ApiError)) {
    return {
      title: 'Something went wrong in this page',
      detail: 'Reload it. If that does not help, tell the operator what you did.',
    };
  }
  const { retryAfterSeconds, title, message } = error;
  const wait =
    error.status === 429 && retryAfterSeconds !== undefined ? ` Try again in ${inWords(retryAfterSeconds)}.` : '';
  // Only what the server did wrong is in its log with details; a person's own mistakes need no number.
  return { title, detail: message + wait, requestId: error.status >= 500 ? error.requestId : undefined };
}

function inWords(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? 'a second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
