import {
  type Deps,
  listSigningKeys,
  revokeSigningKey,
  rotateSigningKey,
  type SigningKeyRecord,
  toSigningKey,
} from '@tenon/server';
import { type Command, withConfirmation } from '../command.ts';
import { confirm } from '../confirm.ts';
import { parseDuration } from '../duration.ts';
import { usageError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Reporter } from '../output.ts';
import { formatTime } from '../text.ts';
import { type AdminOptions, withPresentData, withStore } from './admin-data.ts';

/** How long hosts have to pin a new key before the server signs with it. */
const defaultDelay = '7d';

/** Adds `signing-key`: the keys with which the server signs attestations. */
export function addSigningKeyCommands(admin: Command, io: Io): void {
  const group = admin.command('signing-key').description('the keys with which the server signs attestations');

  group
    .command('list')
    .description('list the keys, newest first, also the revoked ones')
    .use(withStore)
    .examples('tenon admin signing-key list', 'tenon admin signing-key list --json | jq -r ".[0].publicKey"')
    .action((options: AdminOptions) => withPresentData(io, options, showKeys));

  group
    .command('rotate')
    .option(
      '--after <duration>',
      `when the server starts to sign with the new key (default: ${defaultDelay})`,
      parseDuration,
    )
    .description('create a key that replaces the present one')
    .use(withStore)
    .examples('tenon admin signing-key rotate', 'tenon admin signing-key rotate --after 0')
    .addHelpText(
      'after',
      `The new key is published at once, so that hosts can pin it before the server signs with it. The old key stays published, and its
attestations stay valid.`,
    )
    .action((options: AdminOptions & { after?: number }) =>
      withPresentData(io, options, async (deps, out) => {
        const { after = parseDuration(defaultDelay) } = options;
        const { key } = await rotateSigningKey(deps, after);
        out.result(shown(key), () => out.write(`${key.id}\n`));
        out.note(`The server signs with this key from ${formatTime(new Date(key.validFromMs).toISOString())}.`);
      }),
    );

  group
    .command('revoke')
    .argument('<key>', 'the id of the key, or its first characters')
    .description('revoke a key: all its attestations fail')
    .use(withStore, withConfirmation)
    .examples('tenon admin signing-key revoke 3b6a27bcceb6a42d --yes')
    .addHelpText(
      'after',
      `If the server signs with the key, another one replaces it at once. Hosts that pin the key must remove it themselves.`,
    )
    .action((key: string, options: AdminOptions & { yes?: boolean }) =>
      withPresentData(io, options, async (deps, out) => {
        const id = await findKey(deps, key);
        await confirm(io, `This revokes the key ${id}: all its attestations fail.`, { yes: options.yes });
        const revoked = await revokeSigningKey(deps, id);
        out.result(shown(revoked), () => out.note(`Revoked ${id}.`));
      }),
    );
}

function shown(key: SigningKeyRecord) {
  const revokedAt = key.revokedAtMs === null ? null : new Date(key.revokedAtMs).toISOString();
  return { ...toSigningKey(key), origin: key.origin, revokedAt };
}

async function showKeys(deps: Deps, out: Reporter): Promise<void> {
  const keys = (await listSigningKeys(deps)).map(shown);
  out.result(keys, () =>
    out.table(
      ['KEY', 'ORIGIN', 'STATE', 'VALID FROM', 'VALID UNTIL'],
      keys.map((key) => [
        key.keyId,
        key.origin,
        stateOf(key, deps.clock()),
        formatTime(key.validFrom),
        key.validUntil === null ? '-' : formatTime(key.validUntil),
      ]),
      'The server has no key yet. It creates one when it starts.',
    ),
  );
}

function stateOf({ revokedAt, validFrom, validUntil }: ReturnType<typeof shown>, nowMs: number): string {
  if (revokedAt !== null) return 'revoked';
  if (Date.parse(validFrom) > nowMs) return 'next';
  return validUntil !== null && Date.parse(validUntil) <= nowMs ? 'retired' : 'active';
}

async function findKey(deps: Deps, prefix: string): Promise<string> {
  const found = (await listSigningKeys(deps)).filter(({ id }) => id.startsWith(prefix));
  const [key] = found;
  if (key === undefined) throw usageError(`There is no signing key ${JSON.stringify(prefix)}.`);
  if (found.length > 1) throw usageError(`Several signing keys begin with ${JSON.stringify(prefix)}.`);
  return key.id;
}
