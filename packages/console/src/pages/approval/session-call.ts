import { hasCode } from '../../api/api-error.ts';
import type { Session } from '../../state/session.ts';

/**
 * A call that goes by the browser's cookie. When it turns out that nobody is signed in any more, the page asks for it again, in
 * its place. Where the server wants the password first, the call is repeated once it is entered.
 *
 * @throws DOMException `AbortError` when the user cancels the password dialog
 */
export async function sessionCall<T>(session: Session, path: string, body: unknown): Promise<T> {
  try {
    return await session.calls.post<T>(path, body);
  } catch (error) {
    if (hasCode(error, 'not_signed_in')) session.setAccount(null);
    if (!hasCode(error, 'password_required')) throw error;
  }
  await session.confirmPassword();
  return session.calls.post<T>(path, body);
}
