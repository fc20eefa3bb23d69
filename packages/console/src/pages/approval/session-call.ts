import { hasCode } from '../../api/api-error.ts';
import type { Session } from '../../state/session.ts';

/**
 * Sends a request with the browser's session cookie. If the session has ended, the page asks to sign in. If the server requires
 * step-up, the request is repeated after it.
 *
 * @throws DOMException `AbortError` when the user cancels the dialog
 */
export async function sessionCall<T>(session: Session, path: string, body: unknown): Promise<T> {
  try {
    return await session.calls.post<T>(path, body);
  } catch (error) {
    if (hasCode(error, 'not_signed_in')) session.setAccount(null);
    if (!hasCode(error, 'step_up_required')) throw error;
  }
  await session.confirm();
  return session.calls.post<T>(path, body);
}
