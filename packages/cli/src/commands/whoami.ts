import { me as meSchema } from '@tenon/protocol';
import { type Command, withServer } from '../command.ts';
import type { Io } from '../io.ts';
import { calling, type Session } from '../session.ts';
import { formatTime } from '../text.ts';

export function addWhoamiCommand(program: Command, io: Io): void {
  program
    .command('whoami')
    .description('show your account and what your token allows')
    .use(withServer)
    .examples('tenon whoami', 'tenon whoami --json | jq -r .id')
    .action(calling(io, whoami));
}

async function whoami({ api, out, connection }: Session): Promise<void> {
  const me = await api.get('/api/v1/me', meSchema);
  const profile = connection.login?.name;
  out.result({ ...me, server: connection.url, profile: profile ?? null }, () =>
    out.fields([
      ['name', me.name],
      ['id', me.id],
      ...(me.email === null ? [] : [['email', me.email] as const]),
      ['server', connection.url],
      ...(profile === undefined ? [] : [['profile', profile] as const]),
      ['token', `${me.token.name} (${me.token.id})`],
      ['scopes', me.token.scopes.join(', ')],
      ['works in', me.token.appId ?? 'all applications'],
      ['expires', formatTime(me.token.expiresAt)],
    ]),
  );
}
