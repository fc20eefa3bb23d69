import { useEffect, useState } from 'preact/hooks';
import { useServices } from '../state/services.ts';
import { useStore } from '../state/store.ts';

/** Asks for the passkey or the password when the server wants it again before it goes on; one for the whole console. */
export function PasswordDialog() {
  const request = useStore(useServices().session.confirmRequest);
  const [parts, setParts] = useState<typeof import('./confirm-form.tsx')>();
  useEffect(() => {
    if (request !== undefined) void import('./confirm-form.tsx').then(setParts);
  }, [request]);
  return request === undefined || parts === undefined ? null : <parts.ConfirmForm request={request} />;
}
