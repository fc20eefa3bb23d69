import { Link } from '../../components/link.tsx';
import { useAccount } from '../../state/services.ts';
import type { AuditEntry, Sentence } from './audit-text.ts';

export function Author({ entry: { by, user }, isOwn }: { readonly entry: AuditEntry; readonly isOwn: boolean }) {
  const { id } = useAccount();
  if (by === 'operator') return <strong>The server’s operator</strong>;
  if (user === null) return <strong>The server</strong>;
  if (isOwn && user.id === id) return <strong>You</strong>;
  return <strong>{user.name === '' ? user.id : user.name}</strong>;
}

/** The sentence of an event, after its author. */
export function Event({ sentence: { verb, thing, rest } }: { readonly sentence: Sentence }) {
  return (
    <>
      {verb}
      {thing === undefined ? null : ' '}
      {thing === undefined ? null : thing.to === undefined ? (
        <b>{thing.text}</b>
      ) : (
        <Link to={thing.to}>{thing.text}</Link>
      )}
      {rest === undefined ? null : /^[,:]/.test(rest) ? rest : ` ${rest}`}
    </>
  );
}
