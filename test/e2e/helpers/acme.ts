import type { App, ExtensionPoint, Guest, Invitation, InvitationLink } from '@tenon/protocol';
import loadWabt from 'wabt';
import { type Person, signUp } from './person.ts';

/** Names that users have chosen. */
export interface Names {
  readonly owner: string;
  readonly admin: string;
  readonly viewer: string;
  readonly guest: string;
  readonly otherOwner: string;
  readonly app: string;
  readonly otherApps: readonly string[];
  readonly foreignApp: string;
  readonly extensionPoint: string;
  readonly otherExtensionPoints: readonly string[];
  /** What an export does, a property's name and what that is. */
  readonly description: string;
  readonly property: string;
  readonly propertyDescription: string;
  readonly guestKey: string;
  readonly guestLabel: string;
  readonly guestNote: string;
  /** Invited, and not accepted yet. */
  readonly otherGuestKeys: readonly string[];
  readonly noteName: string;
  readonly noteEmail: string;
  readonly token: string;
  readonly otherToken: string;
  readonly apiKey: string;
}

/** A team with an application, a guest with plugins in it, and what goes with them. */
export interface Acme {
  readonly owner: Person;
  readonly admin: Person;
  readonly guest: Person;
  readonly app: App;
  readonly extensionPoint: ExtensionPoint;
  /** The guest that `guest` holds. */
  readonly held: Guest;
  /** Links of invitations: one to answer, and one that was taken back. */
  readonly openLink: string;
  readonly revokedLink: string;
  /** The link of an open invitation to the team. */
  readonly teamLink: string;
}

export const password = 'nine brass moths in relay 70';

/** Makes all that on a server on which everybody may open an account. */
export async function furnish(url: string, names: Names): Promise<Acme> {
  const person = (name: string, address: string) => signUp(url, name, `${address}@acme.example`, password);
  const owner = await person(names.owner, 'olivia');
  const admin = await person(names.admin, 'marcus');
  const viewer = await person(names.viewer, 'priya');
  const guest = await person(names.guest, 'gustav');
  const other = await person(names.otherOwner, 'noor');

  const app = await owner.call<App>('POST', '/apps', { name: names.app });
  for (const name of names.otherApps) await owner.call('POST', '/apps', { name });
  for (const [role, member] of Object.entries({ admin, viewer })) {
    const { link } = await owner.call<InvitationLink>('POST', `/apps/${app.id}/members`, { role });
    await member.call('POST', '/invitations/accept', { code: new URL(link).searchParams.get('code') });
  }
  const pointsPath = `/apps/${app.id}/extension-points`;
  const extensionPoint = await owner.call<ExtensionPoint>('POST', pointsPath, {
    name: names.extensionPoint,
    schema: schemaWith(names),
  });
  for (const name of names.otherExtensionPoints) {
    await owner.call('POST', pointsPath, { name, schema: { version: 'v1-draft', exports: { import_rows: {} } } });
  }

  const invite = async (inviter: Person, appId: string, guestKey: string, note = {}): Promise<string> => {
    const body = { deliveryMethod: 'link', guestKey, ...note };
    return (await inviter.call<InvitationLink>('POST', `/apps/${appId}/guests`, body)).link;
  };
  const answer = (who: Person, link: string, decision: 'accept' | 'decline') =>
    who.call('POST', `/invitations/${decision}`, { code: new URL(link).searchParams.get('code') });
  const note = { name: names.noteName, email: names.noteEmail };
  await answer(
    guest,
    await invite(owner, app.id, names.guestKey, { ...note, label: names.guestLabel, note: names.guestNote }),
    'accept',
  );
  await answer(viewer, await invite(owner, app.id, names.guestKey), 'accept');
  for (const guestKey of names.otherGuestKeys) await invite(admin, app.id, guestKey, { name: names.noteName });
  await answer(other, await invite(owner, app.id, names.otherGuestKeys.at(-1) ?? ''), 'decline');
  const revokedLink = await invite(owner, app.id, names.guestKey);
  const invitations = await owner.call<{ objects: Invitation[] }>('GET', `/apps/${app.id}/invitations`);
  const pending = invitations.objects.filter(
    ({ guestKey, status }) => guestKey === names.guestKey && status === 'pending',
  );
  for (const { id } of pending) await owner.call('DELETE', `/apps/${app.id}/invitations/${id}`);
  const openLink = await invite(owner, app.id, names.guestKey, note);
  const toTeam = { role: 'admin', ...note };
  const { link: teamLink } = await owner.call<InvitationLink>('POST', `/apps/${app.id}/members`, toTeam);

  const foreignApp = await other.call<App>('POST', '/apps', { name: names.foreignApp });
  await answer(owner, await invite(other, foreignApp.id, 'partners/acme'), 'accept');

  for (const name of ['net-present-value', 'mortgage', 'xirr']) {
    await guest.publish(extensionPoint.id, name, await moduleThatSays(name));
  }
  await guest.publish(extensionPoint.id, 'mortgage', await moduleThatSays('mortgage, once more'));
  await viewer.publish(extensionPoint.id, 'black-scholes', await moduleThatSays('black-scholes'));
  // The plugins are older: they were published without simulations.
  await owner.call('PUT', `/extension-points/${extensionPoint.id}/simulations/interest`, { fixtures });
  await owner.call('POST', '/tokens', { name: names.token, scopes: ['read'], appId: app.id, expiresInDays: 365 });
  await owner.call('POST', '/tokens', { name: names.otherToken, scopes: ['read', 'publish'], expiresInDays: 30 });
  await owner.call('POST', '/api-keys', { name: names.apiKey });
  const guests = await owner.call<{ objects: Guest[] }>('GET', `/apps/${app.id}/guests`);
  const held = guests.objects.find(({ guestKey }) => guestKey === names.guestKey);
  if (held === undefined) throw new Error('The guest is not in the list');
  return { owner, admin, guest, app, extensionPoint, held, openLink, revokedLink, teamLink };
}

/** What the plugins that `moduleThatSays` makes do. */
const fixtures = [
  {
    name: 'adds up',
    export: 'evaluate',
    input: '{"arguments":[100,0.05,12],"locale":"en"}',
    expect: { fails: false },
  },
  { name: 'describes itself', export: 'describe', expect: { matchesSchema: true } },
];

function schemaWith({ description, property, propertyDescription }: Names) {
  return {
    version: 'v1-draft',
    exports: {
      evaluate: {
        description,
        input: {
          contentType: 'application/json',
          type: 'object',
          properties: {
            [property]: { type: 'array', items: { type: 'number' }, description: propertyDescription },
            locale: { type: 'string', description: 'The language of the sheet, such as en or de-CH.' },
          },
          required: [property],
        },
        output: { contentType: 'application/json', type: 'number', description: 'What the cell shows.' },
      },
      describe: {
        description: 'Says in a sentence what the function does; shown while one types its name.',
        output: { contentType: 'text/plain; charset=utf-8', type: 'string' },
      },
    },
  };
}

/** A plugin with the functions that the extension point names; another text makes other bytes. */
export async function moduleThatSays(text: string): Promise<Uint8Array> {
  const wabt = await loadWabt();
  const module = wabt.parseWat(
    'plugin.wat',
    `(module
       (memory (export "memory") 1)
       (data (i32.const 0) ${JSON.stringify(text)})
       (func (export "evaluate") (result i32) (i32.const 0))
       (func (export "describe") (result i32) (i32.const 0)))`,
  );
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}
