import { isId } from '@tenon/protocol';
import { type QuotaName, type Quotas, quotas } from './quotas.ts';
import { byteSize, positiveInteger, type Reader } from './readers.ts';

/** Parses the setting of quotas: `name=value` or `id:name=value`, separated by commas. */
export const quotaList: Reader<Quotas> = (text) => {
  const all: Partial<Record<QuotaName, number>> = {};
  const byId: Record<string, Partial<Record<QuotaName, number>>> = {};
  for (const part of text.split(',').map((part) => part.trim())) {
    if (part === '') continue;
    const [, id, name = '', value = ''] = /^(?:([^:=]*):)?([^:=]*)=(.*)$/.exec(part) ?? [];
    if (!isQuota(name)) {
      throw new Error(
        `must be a list of quotas such as applications=100 (got ${JSON.stringify(part)}); the quotas are ${names}`,
      );
    }
    const { of } = quotas[name];
    const idKind = of === 'account' ? 'user' : 'app';
    if (id !== undefined && !isId(idKind, id)) {
      throw new Error(`must have the id of an ${of} before ":${name}" (got ${JSON.stringify(id)})`);
    }
    const number = parseQuotaLimit(name, value.trim());
    if (id === undefined) all[name] = number;
    else byId[id] = { ...byId[id], [name]: number };
  }
  return { all, byId };
};

const names = Object.keys(quotas).join(', ');

/** Reads a limit, such as `100`, or `50GiB` for a quota of bytes. @throws Error */
export function parseQuotaLimit(name: QuotaName, text: string): number {
  return 'isBytes' in quotas[name] ? byteSize(text) : positiveInteger(text);
}

export function isQuota(name: string): name is QuotaName {
  return Object.hasOwn(quotas, name);
}
