import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from '@tenon/protocol';
import type { BrowserContextOptions } from 'playwright-core';
import { openStageApart, type StageApart, type Visitor } from '../../../packages/console/test/helpers/stage.ts';
import { seedUsage } from '../../../packages/server/test/helpers/seed-usage.ts';
import { type Acme, furnish, moduleThatSays, password } from './acme.ts';
import { acmeNames } from './acme-names.ts';
import { everyPage, type PageToSee } from './every-page.ts';
import { makeOperator } from './make-operator.ts';
import { startProgram } from './oauth.ts';
import { signUp } from './person.ts';

/** A server with data as a team would have it, and everybody who looks at its pages. */
export interface Gallery {
  readonly url: string;
  readonly pages: readonly PageToSee[];
  /** The browser of whom a page is for, who is signed in; the same one each time. */
  visitorFor(page: PageToSee): Promise<Visitor>;
  /** A new user. */
  newVisitor(): Promise<Visitor>;
  close(): Promise<void>;
}

/** @param enlarge adds data while the server is stopped */
export async function openGallery(
  options: BrowserContextOptions = {},
  enlarge?: (dataDir: string, acme: Acme) => Promise<void>,
): Promise<Gallery> {
  const stage = await openStageApart({ args: ['--no-demo'], settings: { TENON_SIGN_UP: 'open' } });
  try {
    return await furnished(stage, options, enlarge);
  } catch (error) {
    await stage.close();
    throw error;
  }
}

/** A month of requests of a host, fewer at weekends, with a day on which it was down. */
async function useMortgage({ server }: StageApart, { app, extensionPoint, owner, guest, held }: Acme): Promise<void> {
  const path = `/artifacts/${extensionPoint.id}/plugin/${guest.userId}/mortgage`;
  const { contentAddress } = await owner.call<Plugin>('GET', path);
  const list = { appId: app.id, extensionPointId: extensionPoint.id, guestKey: held.guestKey, contentAddress };
  const days = Array.from({ length: 30 }, (_, daysAgo) => ({
    daysAgo,
    listRequests: daysAgo === 11 ? 0 : Math.round((daysAgo % 7 > 4 ? 320 : 1180) * (1.4 - daysAgo / 40)),
    contentFetches: daysAgo === 11 ? 0 : (daysAgo * 5) % 9,
  }));
  await seedUsage(join(server.folder, 'tenon-data'), { ...list, userId: owner.userId }, days);
}

/** A version that its simulations hold back. */
export async function failSimulation({ extensionPoint, owner, guest }: Acme): Promise<void> {
  await owner.call('PUT', `/extension-points/${extensionPoint.id}/simulations/descriptions`, {
    fixtures: [
      { name: 'says what it does', export: 'describe', expect: { equals: 'The internal rate of return.' } },
      { name: 'takes no locale', export: 'evaluate', input: '{"arguments":[1]}', expect: { fails: false } },
    ],
  });
  await guest.publish(extensionPoint.id, 'xirr', await moduleThatSays('xirr, for uneven dates'));
}

async function furnished(
  stage: StageApart,
  options: BrowserContextOptions,
  enlarge: Parameters<typeof openGallery>[1],
): Promise<Gallery> {
  const acme = await furnish(stage.url, acmeNames);
  await makeOperator(stage, acme.owner.userId);
  await useMortgage(stage, acme);
  await failSimulation(acme);
  const newcomer = await signUp(stage.url, 'Nell Newcomer', 'nell@acme.example', password);
  if (enlarge !== undefined) {
    await stage.server.kill();
    await enlarge(join(stage.server.folder, 'tenon-data'), acme);
    await stage.server.restart();
  }
  const program = await startProgram();
  const wasmFile = join(stage.server.folder, 'amortization.wasm');
  await writeFile(wasmFile, await moduleThatSays('amortization'));
  const visitors = new Map<PageToSee['as'], Visitor>();
  return {
    url: stage.url,
    pages: await everyPage(stage.url, acme, program, wasmFile),
    async visitorFor({ as }) {
      const known = visitors.get(as);
      if (known !== undefined) return known;
      const visitor = await stage.visitor(options);
      visitors.set(as, visitor);
      if (as === 'nobody') return visitor;
      await visitor.open('/');
      await visitor.signIn({ owner: acme.owner, guest: acme.guest, newcomer }[as].email, password);
      return visitor;
    },
    newVisitor: () => stage.visitor(options),
    async close() {
      await stage.close();
      program.close();
    },
  };
}
