import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode, isAbort } from '../api/api-error.ts';
import { createSession, type Session, type TabChannel } from './session.ts';

const grace = { id: 'usr_01h455vb4pex5vsknk084sn02r', name: 'Grace', email: 'grace@example.org' };
const ada = { id: 'usr_01h455vb4pex5vsknk084sn02q', name: 'Ada', email: 'ada@example.org' };

/** A server that knows Ada, and tabs of one browser before it. */
function setUp() {
  let person = ada;
  let isSignedIn = false;
  let isConfirmed = false;
  let isAway = false;
  let tokens = 0;
  const tabs: TabChannel[] = [];
  const answer = (status: number, json?: unknown): Response =>
    new Response(json === undefined ? null : JSON.stringify(json), { status });
  const refuse = (status: number, code: string): Response =>
    answer(status, { type: 'about:blank', title: code, status, detail: `${code}.`, code });
  const state = () => ({
    signUp: 'invitation',
    createApps: 'members',
    maxModuleBytes: 64,
    account: isSignedIn ? person : null,
  });

  const serve = (line: string, body: { readonly password?: string }): Response => {
    switch (line) {
      case 'GET /session':
        return answer(200, state());
      case 'POST /session':
        if (body.password !== 'right') return refuse(401, 'invalid_credentials');
        isSignedIn = true;
        isConfirmed = true;
        return answer(200, state());
      case 'POST /session/sign-out':
        if (!isSignedIn) return refuse(401, 'not_signed_in');
        isSignedIn = false;
        return answer(200, { redirectTo: null });
      case 'POST /session/token':
        if (!isSignedIn) return refuse(401, 'not_signed_in');
        return answer(201, {
          accessToken: `token-${++tokens}`,
          scopes: [],
          expiresAt: new Date(3_600_000).toISOString(),
        });
      case 'GET /session/passkeys':
        return isSignedIn ? answer(200, { objects: [], recoveryCodes: 0 }) : refuse(401, 'not_signed_in');
      case 'POST /session/confirm':
        if (!isSignedIn) return refuse(401, 'not_signed_in');
        if (body.password !== 'right') return refuse(401, 'invalid_credentials');
        isConfirmed = true;
        return answer(204);
      case 'GET /api/v1/me':
        return answer(200, person);
      case 'POST /api/v1/api-keys':
        return isConfirmed ? answer(201, { apiKey: 'tnk_x' }) : refuse(403, 'step_up_required');
      default:
        return refuse(404, 'not_found');
    }
  };

  const openTab = (): Session => {
    const channel: TabChannel = {
      onmessage: null,
      postMessage(data) {
        for (const tab of tabs) if (tab !== channel) tab.onmessage?.({ data } as MessageEvent);
      },
    };
    tabs.push(channel);
    return createSession({
      basePath: '/',
      clock: () => 0,
      channel,
      fetch: async (input, init = {}) => {
        if (isAway) throw new TypeError('Failed to fetch');
        return serve(`${init.method} ${String(input)}`, typeof init.body === 'string' ? JSON.parse(init.body) : {});
      },
    });
  };
  return {
    openTab,
    goAway: () => {
      isAway = true;
    },
    end: () => {
      isSignedIn = false;
    },
    /** Lets so much time pass that the server wants the password again. */
    wait: () => {
      isConfirmed = false;
    },
    become: (other: typeof ada) => {
      person = other;
    },
  };
}

const accountOf = ({ view }: Session) => {
  const now = view.get();
  return now.status === 'ready' ? now.account : now.status;
};
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('createSession()', () => {
  it('knows who is signed in once it has asked', async () => {
    const { openTab } = setUp();
    const tab = openTab();
    assert.equal(accountOf(tab), 'loading');
    await tab.load();
    assert.equal(accountOf(tab), null);
    await assert.rejects(tab.signIn({ email: 'ada@example.org', password: 'wrong' }), (error) =>
      hasCode(error, 'invalid_credentials'),
    );
    assert.equal(accountOf(tab), null);
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    assert.deepEqual(accountOf(tab), ada);
  });

  it('tells other tabs who came and who went', async () => {
    const { openTab } = setUp();
    const [one, other] = [openTab(), openTab()];
    await Promise.all([one.load(), other.load()]);
    await one.signIn({ email: 'ada@example.org', password: 'right' });
    await settled();
    assert.deepEqual(accountOf(other), ada);
    await other.signOut();
    await settled();
    assert.equal(accountOf(one), null);
    assert.equal(accountOf(other), null);
  });

  it('keeps what it knows when the server is away for a moment', async () => {
    const { openTab, goAway } = setUp();
    const [tab, late] = [openTab(), openTab()];
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    await settled();
    goAway();
    await tab.load();
    assert.deepEqual(accountOf(tab), ada);
    late.view.set({ status: 'loading' });
    await late.load();
    assert.equal(accountOf(late), 'failed');
  });

  it('signs out where the session has ended already', async () => {
    const { openTab, end } = setUp();
    const tab = openTab();
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    end();
    await tab.signOut();
    assert.equal(accountOf(tab), null);
  });

  it('has the same person sign in again at the first request after the session ended, and goes on', async () => {
    const { openTab, end } = setUp();
    const tab = openTab();
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    end();
    const asked = tab.api.get('/api/v1/me');
    await settled();
    const request = tab.signInRequest.get();
    assert.deepEqual(request?.account, ada);
    assert.deepEqual(accountOf(tab), ada, 'the page stays');
    await assert.rejects(request?.signIn('wrong') ?? Promise.resolve(), (error) =>
      hasCode(error, 'invalid_credentials'),
    );
    assert.equal(tab.signInRequest.get(), request, 'the dialog stays');
    await request?.signIn('right');
    assert.deepEqual(await asked, ada);
    assert.equal(tab.signInRequest.get(), undefined);
  });

  it('gives up what waits for a session when the person does, or signs out in another tab, and says so there', async () => {
    const { openTab, end } = setUp();
    const [tab, other] = [openTab(), openTab()];
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    await settled();
    end();
    const abandoned = tab.api.get('/api/v1/me');
    await settled();
    tab.signInRequest.get()?.giveUp();
    await assert.rejects(abandoned, isAbort);
    assert.equal(accountOf(tab), null);

    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    await settled();
    end();
    const waiting = other.api.get('/api/v1/me');
    await settled();
    assert.notEqual(other.signInRequest.get(), undefined);
    await tab.signOut();
    await assert.rejects(waiting, isAbort);
    assert.equal(other.signInRequest.get(), undefined);
    const view = other.view.get();
    assert.ok(view.status === 'ready' && view.account === null && view.isEnded);
  });

  it('keeps nothing of one user for another', async () => {
    const { openTab, end, become } = setUp();
    const [tab, other] = [openTab(), openTab()];
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    await settled();
    end();
    const waiting = tab.api.get('/api/v1/me');
    await settled();
    become(grace);
    await other.signIn({ email: 'grace@example.org', password: 'right' });
    await assert.rejects(waiting, isAbort);
    assert.deepEqual(accountOf(tab), grace);
  });

  it('takes signing in again for the password that was asked for', async () => {
    const { openTab, end, wait } = setUp();
    const tab = openTab();
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    wait();
    const making = tab.api.post('/api/v1/api-keys', {});
    await settled();
    end();
    await tab.confirmRequest.get()?.confirm('right');
    await settled();
    assert.equal(tab.confirmRequest.get(), undefined);
    await tab.signInRequest.get()?.signIn('right');
    assert.deepEqual(await making, { apiKey: 'tnk_x' });
  });

  it('asks for the password, retries after a wrong one, and then continues', async () => {
    const { openTab, wait } = setUp();
    const tab = openTab();
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    wait();
    const making = Promise.all([tab.api.post('/api/v1/api-keys', {}), tab.api.post('/api/v1/api-keys', {})]);
    await settled();
    const request = tab.confirmRequest.get();
    assert.ok(request);
    await assert.rejects(request.confirm('wrong'), (error) => hasCode(error, 'invalid_credentials'));
    assert.equal(tab.confirmRequest.get(), request, 'the dialog stays');
    await request.confirm('right');
    assert.deepEqual(await making, [{ apiKey: 'tnk_x' }, { apiKey: 'tnk_x' }]);
    assert.equal(tab.confirmRequest.get(), undefined);
  });

  it('gives up what waits for the password when the dialog is closed', async () => {
    const { openTab, wait } = setUp();
    const tab = openTab();
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    wait();
    const making = [tab.api.post('/api/v1/api-keys', {}), tab.api.post('/api/v1/api-keys', {})];
    await settled();
    tab.confirmRequest.get()?.cancel();
    for (const each of making) await assert.rejects(each, isAbort);
    assert.equal(tab.confirmRequest.get(), undefined);
  });
});
