import { type Command, withConfirmation, withJson } from '../command.ts';
import { confirm } from '../confirm.ts';
import { withoutProfiles } from '../credentials.ts';
import { type CredentialsPlace, readCredentials, updateCredentials } from '../credentials-file.ts';
import type { Io } from '../io.ts';
import { createReporter, type Reporter } from '../output.ts';
import { assertProfile } from '../profiles.ts';
import { formatTime } from '../text.ts';

interface Options {
  readonly json?: boolean;
  readonly yes?: boolean;
}

interface Work {
  readonly io: Io;
  readonly out: Reporter;
  readonly place: CredentialsPlace;
}

export function addProfileCommands(program: Command, io: Io): void {
  const group = program.command('profile').description('your logins to one or more servers');
  const working =
    <Args extends unknown[]>(work: (work: Work, ...args: Args) => unknown) =>
    async (...all: unknown[]) => {
      const command = all.at(-1) as Command;
      const out = createReporter(io, command.opts<Options>().json === true);
      await work({ io, out, place: { ...io, warn: out.warn } }, ...(all.slice(0, -1) as Args));
    };

  group
    .command('list')
    .description('list your logins')
    .use(withJson)
    .examples('tenon profile list')
    .action(working(list));

  group
    .command('use')
    .argument('<profile>', 'the name of the login')
    .description('make a login the current one, which commands use by default')
    .use(withJson)
    .examples('tenon profile use work')
    .action(working(use));

  group
    .command('remove')
    .argument('<profile>', 'the name of the login')
    .description('delete a login here only; `tenon logout` also revokes its token')
    .use(withConfirmation, withJson)
    .examples('tenon profile remove work')
    .action(working(remove));
}

function list({ out, place, io }: Work): void {
  const { profiles, current } = readCredentials(place);
  const found = [...profiles].map(([name, profile]) => {
    const { url, user, scopes, expiresAt, tokenId } = profile;
    const isExpired = Date.parse(expiresAt) <= io.clockMs();
    return { name, url, user, scopes, expiresAt, isExpired, isCurrent: name === current, tokenId };
  });
  out.result(found, () =>
    out.table(
      ['', 'NAME', 'SERVER', 'YOU ARE', 'SCOPES', 'EXPIRES'],
      found.map(({ name, url, user, scopes, expiresAt, isExpired, isCurrent }) => [
        isCurrent ? '*' : '',
        name,
        url,
        user.email ?? user.name,
        scopes.join(', '),
        isExpired ? 'expired' : formatTime(expiresAt),
      ]),
      'You have no logins. To make one: tenon login --server <url>',
    ),
  );
}

async function use({ out, place }: Work, name: string): Promise<void> {
  const { profile } = assertProfile(readCredentials(place), name);
  await updateCredentials(place, (present) => ({ ...present, current: assertProfile(present, name).name }));
  out.result({ current: name, url: profile.url }, () => out.note(`Commands talk to ${profile.url} from now on.`));
}

async function remove({ io, out, place }: Work, name: string, options: Options): Promise<void> {
  const { profile } = assertProfile(readCredentials(place), name);
  const fate = `Its token works on until ${formatTime(profile.expiresAt)}; \`tenon logout --profile ${name}\` would end it.`;
  await confirm(io, `The login "${name}" at ${profile.url} will be forgotten. ${fate}`, options);
  await updateCredentials(place, (present) => withoutProfiles(present, new Set([name])));
  out.result({ removed: name }, () => out.note(`Forgot ${name}.`));
}
