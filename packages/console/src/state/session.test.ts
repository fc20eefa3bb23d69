import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode, isAbort } from '../api/api-error.ts';
import { createSession, type Session, type TabChannel } from './session.ts';

const ada = { id: 'usr_01h455vb4pex5vsknk084sn02q', name: 'Ada', email: 'ada@example.org' };

/** A server that knows Ada, and tabs of one browser before it. */
function setUp() {
  let isSignedIn = false;
  let isConfirmed = false;
  let isAway = false;
  let tokens = 0;
  const tabs: TabChannel[] = [];
  const answer = (status: number, json?: unknown): Response =>
    new Response(json === undefined ? null : JSON.stringify(json), { status });
  const refuse = (status: number, code: string): Response =>
    answer(status, { type: 'about:blank', title: code, status, detail: `${code}.`, code });
  const state = () => ({ signUp: 'invitation', maxModuleBytes: 64, account: isSignedIn ? ada : null });

  const serve = (line: string, body: { readonly password?: string }): Response => {
    switch (line) {
      case 'GET /session':
        return answer(200, state());
      case 'POST /session':
        if (body.password !== 'right') return refuse(401, 'invalid_credentials');
        isSignedIn = true;
        return answer(200, state());
      case 'DELETE /session':
        if (!isSignedIn) return refuse(401, 'not_signed_in');
        isSignedIn = false;
        return answer(204);
      case 'POST /session/token':
        if (!isSignedIn) return refuse(401, 'not_signed_in');
        return answer(201, {
          accessToken: `token-${++tokens}`,
          scopes: [],
          expiresAt: new Date(3_600_000).toISOString(),
        });
      case 'POST /session/confirm':
        if (body.password !== 'right') return refuse(401, 'invalid_credentials');
        isConfirmed = true;
        return answer(204);
      case 'POST /api/v1/api-keys':
        return isConfirmed ? answer(201, { apiKey: 'tnk_x' }) : refuse(403, 'password_required');
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

  it('goes on with what it knows when the server is away for a moment', async () => {
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

  it('notices a session that ended elsewhere at the next request', async () => {
    const { openTab, end } = setUp();
    const tab = openTab();
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    end();
    await assert.rejects(tab.api.get('/api/v1/me'), (error) => hasCode(error, 'not_signed_in'));
    assert.equal(accountOf(tab), null);
  });

  it('has somebody ask for the password, who may be wrong before being right, and goes on', async () => {
    const { openTab } = setUp();
    const tab = openTab();
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    const making = Promise.all([tab.api.post('/api/v1/api-keys', {}), tab.api.post('/api/v1/api-keys', {})]);
    await settled();
    const request = tab.passwordRequest.get();
    assert.ok(request);
    await assert.rejects(request.confirm('wrong'), (error) => hasCode(error, 'invalid_credentials'));
    assert.equal(tab.passwordRequest.get(), request, 'the dialog stays');
    await request.confirm('right');
    assert.deepEqual(await making, [{ apiKey: 'tnk_x' }, { apiKey: 'tnk_x' }]);
    assert.equal(tab.passwordRequest.get(), undefined);
  });

  it('gives up what waits for the password when the dialog is closed', async () => {
    const { openTab } = setUp();
    const tab = openTab();
    await tab.signIn({ email: 'ada@example.org', password: 'right' });
    const making = [tab.api.post('/api/v1/api-keys', {}), tab.api.post('/api/v1/api-keys', {})];
    await settled();
    tab.passwordRequest.get()?.cancel();
    for (const each of making) await assert.rejects(each, isAbort);
    assert.equal(tab.passwordRequest.get(), undefined);
  });
});
