import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { noMailServer, openMailServer, type TestMailServer } from '../../test/helpers/mail-server.ts';
import { smtpUrl } from '../config/readers.ts';
import { connectionOptions, MailError, openSmtpSession } from './smtp.ts';

const mail = { to: 'grace@example.org', messageId: 'mal_1', subject: 'Hello', paragraphs: ['A text.'] };
const password = 'p@ss/word';

describe('openSmtpSession()', () => {
  let server: TestMailServer;
  before(async () => {
    server = await openMailServer({
      authOptional: false,
      onAuth: ({ username, password: given }, _, done) =>
        username === 'tenon' && given === password ? done(null, { user: username }) : done(new Error('No')),
    });
  });
  after(() => server.close());

  const at = (fields: object = {}) => ({ ...server.at, user: 'tenon', password, ...fields });
  const fails = (open: Promise<unknown>, message: RegExp) =>
    assert.rejects(open, (error) => {
      assert.ok(error instanceof MailError && !error.isPermanent, String(error));
      assert.match(error.message, message);
      assert.ok(!error.message.includes(password));
      return true;
    });

  it('changes to TLS, signs in, and sends several mails over one connection', async () => {
    const session = await openSmtpSession(at());
    await session.send(mail);
    await session.send(mail);
    session.close();
    const [first, second] = server.mails;
    assert.ok(first?.session.secure);
    assert.equal(first.session.user, 'tenon');
    assert.equal(first.session.id, second?.session.id);
    assert.equal(first.messageId, '<mal_1@example.com>');
    assert.equal(first.text, 'A text.\n');
  });

  it('fails for a wrong password, and says so without it', () => fails(openSmtpSession(at({ password: 'no' })), /535/));

  it('fails for a server that is not there, in time for one that is silent, and for one that is no mail server', async () => {
    await fails(openSmtpSession({ ...noMailServer }), /ECONNREFUSED/);
    const silent = createServer().listen(0, '127.0.0.1');
    const web = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const portOf = (one: typeof silent) => (one.address() as { port: number }).port;
    await fails(openSmtpSession(at({ port: portOf(silent) }), 200), /Greeting never received|Timeout/i);
    await fails(openSmtpSession(at({ port: portOf(web) }), 200), /./);
    silent.close();
    web.close();
  });

  it('verifies the certificate of smtps://, also on this machine', async () => {
    const secure = await openMailServer({ secure: true });
    try {
      await fails(openSmtpSession({ ...secure.at, isSecure: true }), /certificate/);
    } finally {
      await secure.close();
    }
  });

  it('requires TLS and a valid certificate for a password that leaves the machine', () => {
    const { requireTLS, tls } = connectionOptions(at({ host: 'mail.example.com' }), 1);
    assert.deepEqual([requireTLS, tls], [true, { rejectUnauthorized: true }]);
    assert.deepEqual(connectionOptions(at({ host: '127.0.0.1' }), 1).tls, { rejectUnauthorized: false });
    const secure = connectionOptions(at({ isSecure: true }), 1);
    assert.deepEqual([secure.secure, secure.tls], [true, { rejectUnauthorized: true }]);
  });
});

describe('smtpUrl()', () => {
  it('reads the parts of the URL', () => {
    const read = smtpUrl('smtp://tenon:p%40ss%2Fword@mail.example.com?from=tenon@example.com');
    assert.deepEqual(read, {
      ...{ host: 'mail.example.com', port: 587, isSecure: false, user: 'tenon', password },
      from: 'tenon@example.com',
    });
    assert.equal(smtpUrl('smtps://[::1]?from=a@b.example').port, 465);
    assert.equal(smtpUrl('smtps://[::1]?from=a@b.example').host, '::1');
  });

  it('rejects other URLs, and quotes none', () => {
    for (const url of [
      'http://u:s3cret@mail.example.com?from=a@b.example',
      'smtp://u:s3cret@mail.example.com',
      'smtp://u:s3cret@mail.example.com?from=nobody',
      'smtp://u:s3cret@mail.example.com/s3cret?from=a@b.example',
      'smtp://u:s3cret@mail.example.com?from=a@b.example&pool=true',
      'smtp://u:%zzs3cret@mail.example.com?from=a@b.example',
      'smtp://s3cret@mail.example.com?from=a@b.example',
      'smtp://?from=a@b.example',
    ]) {
      assert.throws(() => smtpUrl(url), { message: /^must|^has/ }, url);
      assert.throws(
        () => smtpUrl(url),
        (error: Error) => !error.message.includes('s3cret'),
      );
    }
  });
});
