import { hasCode } from '../../api/api-error.ts';
import type { Session } from '../../state/session.ts';

/**
 * A call that goes by the browser's cookie. When it turns out that nobody is signed in any more, the page asks for it again, in
 * its place.
 */
export async function callSignedIn<T>(session: Session, path: string, body: unknown): Promise<T> {
  try {
    return await session.calls.post<T>(path, body);
  } catch (error) {
    if (hasCode(error, 'not_signed_in')) session.setAccount(null);
    throw error;
  }
}
