import { ApiError, type FieldFault } from '../api/api-error.ts';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';

/** An error message. The request id leads an operator to the log. */
export function ErrorView({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}) {
  if (error === undefined || error === null) return null;
  const { title, requestId, ...words } = describe(error);
  const { detail, faults } = withoutRepeats(words.detail, error instanceof ApiError ? error.errors : []);
  return (
    <Notice kind="failed" title={title}>
      {detail === '' ? null : <p>{detail}</p>}
      {faults.length === 0 ? null : (
        <ul>
          {faults.map((fault) => (
            <li key={fault.pointer + fault.detail}>{fault.detail}</li>
          ))}
        </ul>
      )}
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

/** Omits a detail that only repeats the first faults, because the list below has all of them. */
function withoutRepeats(
  detail: string,
  faults: readonly FieldFault[],
): { detail: string; faults: readonly FieldFault[] } {
  const isRepeated = (fault: FieldFault): boolean => detail.includes(fault.detail);
  if (faults.length > 1 && faults.some(isRepeated)) {
    const rest = faults.reduce((text, fault) => text.replace(fault.detail, ''), detail);
    if (/^\s*(?:And \d+ more\.)?\s*$/.test(rest)) return { detail: '', faults };
  }
  return { detail, faults: faults.filter((fault) => !isRepeated(fault)) };
}

interface Description {
  readonly title: string;
  readonly detail: string;
  readonly requestId?: string | undefined;
}

function describe(error: unknown): Description {
  if (error instanceof Error && error.name === 'PasskeyError')
    return { title: 'The passkey was not used', detail: error.message };
  if (!(error instanceof ApiError)) {
    return {
      title: 'Something went wrong on this page',
      detail: 'Reload the page. If it happens again, tell the operator what you did.',
    };
  }
  const { retryAfterSeconds, title } = error;
  const repeated = `${title}. `;
  const message = error.message.startsWith(repeated) ? error.message.slice(repeated.length) : error.message;
  const wait =
    error.status === 429 && retryAfterSeconds !== undefined ? ` Try again in ${inWords(retryAfterSeconds)}.` : '';
  // Only server errors are logged with details.
  return { title, detail: message + wait, requestId: error.status >= 500 ? error.requestId : undefined };
}

function inWords(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? 'a second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
