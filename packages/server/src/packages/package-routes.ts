import { Type } from '@tenon/protocol/type';
import type { ByteRange } from '../blobs/blob-store.ts';
import { type PackageRecord, packagePartBytes } from '../db/package-records.ts';
import { UnavailableError } from '../db/store.ts';
import { evaluateConditions, evaluateRange } from '../http/conditions.ts';
import { HttpError } from '../http/http-error.ts';
import { limitPublicReads } from '../http/limits/public-reads.ts';
import type { Reply, ReplyBody } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { jsonList, type Route, routeTagged } from '../http/route.ts';
import type { Services } from '../services.ts';
import { stableFile } from './own-packages.ts';

const route = routeTagged('Packages');

const archive = {
  version: Type.String(),
  file: Type.String({ description: "the archive's name below `/packages/`" }),
  integrity: Type.String({ description: '`sha512-` and the digest in base64, as in lock files' }),
  size: Type.Integer({ description: 'in bytes' }),
};
const versionedArchive = Type.Object(archive);
const offeredPackage = Type.Object({
  name: Type.String(),
  ...archive,
  versions: Type.Array(versionedArchive, { description: 'all that were ever offered; their archives never change' }),
});

const example = {
  version: '0.1.0',
  integrity: `sha512-${'A'.repeat(86)}==`,
  size: 42719,
};

/** The archive of a versioned name never changes. */
const immutable = 'public, max-age=31536000, immutable';
const changing = 'public, max-age=300';

export const packageRoutes: readonly Route[] = [
  route('GET', '/packages', {
    access: { kind: 'public' },
    id: 'listPackages',
    summary: "List the server's packages: the libraries and the command line",
    description:
      '`file` is the archive without a version in its name, which always has the version that this server was built with.',
    responses: {
      200: jsonList('the packages', offeredPackage, {
        name: '@tenon/client',
        ...example,
        file: 'tenon-client.tgz',
        versions: [{ ...example, file: 'tenon-client-0.1.0.tgz' }],
      }),
    },
    errors: ['rate_limited'],
    async handle(services, { request }) {
      limitPublicReads(services, request);
      const stored = await services.deps.store.read.packages();
      return {
        objects: services.packages.map((own) => {
          const others = stored.filter(({ name, file }) => name === own.name && file !== own.file);
          const newest = stored.find(({ file }) => file === own.file) ?? own;
          return {
            name: own.name,
            ...describe(own),
            file: stableFile(own),
            versions: [newest, ...others].map(describe),
          };
        }),
      };
    },
  }),
  route('GET', '/packages/:file', {
    access: { kind: 'public' },
    id: 'readPackage',
    summary: "Fetch a package's archive, for `npm install`",
    description: 'An archive with a version in its name never changes, and is kept after upgrades of the server.',
    requestHeaders: {
      'if-none-match': 'the response is 304 if the archive is unchanged',
      range: 'a single range of bytes',
      'if-range': 'use the range only if the entity tag is unchanged',
    },
    responses: {
      200: {
        description: 'the archive',
        contentType: 'application/gzip',
        headers: {
          etag: "the archive's `integrity`",
          'cache-control': `\`${immutable}\` with a version in the name, \`${changing}\` without`,
          'accept-ranges': '`bytes`',
        },
      },
      206: {
        description: 'the requested range',
        contentType: 'application/gzip',
        headers: { 'content-range': 'the byte range and the total size' },
      },
      304: { description: 'not modified' },
    },
    errors: ['not_found', 'precondition_failed', 'range_not_satisfiable', 'rate_limited'],
    async handle(services, { request, params }, reply) {
      limitPublicReads(services, request);
      const found = await findArchive(services, params.file);
      if (found === undefined)
        throw new HttpError('not_found', 'The server has no such package. `/packages` lists all.');
      return sendArchive(found, request, reply);
    },
  }),
];

function describe({ version, file, integrity, size }: Pick<PackageRecord, 'version' | 'file' | 'integrity' | 'size'>) {
  return { version, file, integrity, size };
}

interface Archive {
  readonly size: number;
  readonly integrity: string;
  readonly cacheControl: string;
  readonly read: (range: ByteRange) => ReplyBody;
}

/** Looks a name up in memory and in the store, never on the disk. */
async function findArchive({ packages, deps: { store } }: Services, name: string): Promise<Archive | undefined> {
  const own = packages.find((each) => each.file === name || stableFile(each) === name);
  const inMemory = own && {
    size: own.size,
    integrity: own.integrity,
    cacheControl: changing,
    read: ({ first, last }: ByteRange) => own.bytes.subarray(first, last + 1),
  };
  if (own !== undefined && own.file !== name) return inMemory;
  const stored = await store.read.packageByFile(name);
  if (stored === undefined) return inMemory; // not stored yet, or the store can't be written
  const { file, size, integrity } = stored;
  if (inMemory?.integrity === integrity) return { ...inMemory, cacheControl: immutable };
  return { size, integrity, cacheControl: immutable, read: (range) => readParts(store, file, range) };
}

/** Reads an archive from the store, one part at a time. */
async function* readParts({ read }: Services['deps']['store'], file: string, { first, last }: ByteRange) {
  for (let number = Math.floor(first / packagePartBytes); number * packagePartBytes <= last; number++) {
    const part = await read.packagePart(file, number);
    if (part === undefined) throw new UnavailableError(`The part ${number} of the package ${file} is missing`);
    const start = number * packagePartBytes;
    yield Buffer.from(part.base64, 'base64').subarray(Math.max(0, first - start), last + 1 - start);
  }
}

function sendArchive({ size, integrity, cacheControl, read }: Archive, request: Request, reply: Reply): Reply {
  const etag = `"${integrity}"`;
  const outcome = evaluateConditions(request.headers, etag);
  if (outcome === 'precondition_failed') {
    throw new HttpError('precondition_failed', '"if-match" names another entity tag.');
  }
  reply.headers({ etag, 'cache-control': cacheControl });
  if (outcome === 'not_modified') return reply.code(304).send();
  const isHead = request.method === 'HEAD';
  const range = isHead ? undefined : evaluateRange(request.headers, size, etag);
  if (range === 'not_satisfiable') {
    throw new HttpError('range_not_satisfiable', `The archive has ${size} bytes.`, {
      'content-range': `bytes */${size}`,
    });
  }
  const { first, last } = range ?? { first: 0, last: size - 1 };
  reply
    .code(range === undefined ? 200 : 206)
    .headers({ 'content-type': 'application/gzip', 'accept-ranges': 'bytes' })
    .header('content-length', last - first + 1);
  if (range !== undefined) reply.header('content-range', `bytes ${first}-${last}/${size}`);
  return isHead ? reply.send() : reply.send(read({ first, last }));
}
