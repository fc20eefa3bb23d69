import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from '@tenon/protocol';
import type { AuditEventRecord } from '../db/audit-records.ts';
import { maxPayloadBytes, toPayload } from './payload.ts';

const event: AuditEventRecord = {
  id: newId('auditEvent'),
  atMs: Date.UTC(2026, 2, 1),
  action: 'guest.invite',
  appId: newId('app'),
  accountId: newId('user'),
  by: 'user',
  userId: newId('user'),
  userName: 'Ada',
  viaId: newId('token'),
  viaName: 'CI',
  address: '192.0.2.7',
  targetId: newId('guest'),
  targetName: null,
  details: { guestIds: ['gst_1'] },
  guestKeys: { gst_1: 'very/secret/key' },
};

describe('toPayload()', () => {
  it('has the type, the time, and the entry, without guest keys, addresses, and accounts', () => {
    const payload = JSON.parse(toPayload(event));
    assert.deepEqual(Object.keys(payload), ['type', 'timestamp', 'data']);
    assert.deepEqual([payload.type, payload.timestamp], ['guest.invite', '2026-03-01T00:00:00.000Z']);
    assert.deepEqual(Object.keys(payload.data), ['id', 'appId', 'by', 'user', 'via', 'target', 'details']);
    assert.doesNotMatch(toPayload(event), /secret|192\.0/);
  });

  it('leaves out details that are too large', () => {
    const payload = toPayload({ ...event, details: { guestIds: ['é'.repeat(maxPayloadBytes / 2)] } });
    assert.ok(Buffer.byteLength(payload) < maxPayloadBytes);
    const { details, isShortened } = JSON.parse(payload).data;
    assert.deepEqual([details, isShortened], [{}, true]);
  });
});
