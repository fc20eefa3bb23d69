import { type ContentAddress, type ErrorCode, listOf, type TokenScope } from '@tenon/protocol';
import type { Static, TObject, TSchema } from 'typebox';
import type { CacheVersion } from '../cache/invalidation-log.ts';
import type { Actor, AppAccess, ExtensionPointAccess, PermissionName } from '../domain/access.ts';
import type { ApiKeyRecord, SessionRecord } from '../domain/records.ts';
import type { BodyReader } from './bodies/body-reader.ts';
import type { ErrorForm } from './error-form.ts';
import type { Parts } from './parts.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';
import type { Tag } from './tags.ts';

/** Who may call a route. It is carried out before a byte of the body is read. */
export type Access =
  /** Everybody. */
  | { readonly kind: 'public' }
  /** Everybody, but from our own pages alone: what sets a cookie, or changes something by means of one. */
  | { readonly kind: 'ownOrigin' }
  /** Whoever is signed in in the browser that asks, from our own pages alone. */
  | { readonly kind: 'session' }
  /** Whoever has an API key. */
  | { readonly kind: 'apiKey' }
  /** A signed-in user: any token, one with a scope, one that is not restricted to an application, an operator's. */
  | { readonly kind: 'user'; readonly scope?: TokenScope; readonly userLevel?: true; readonly operator?: true }
  /** Who may use the application in the path, `:appId`, for the purpose. */
  | { readonly kind: 'app'; readonly purpose: PermissionName }
  /** Who may use the extension point in the path, `:extensionPointId`, for the purpose. */
  | { readonly kind: 'extensionPoint'; readonly purpose: PermissionName }
  /** Who may read the bytes at the address in the path, `:contentAddress`. */
  | { readonly kind: 'content' };

/** What is known once a caller has been let in. */
interface AdmissionByKind {
  public: object;
  ownOrigin: object;
  session: { readonly session: SessionRecord };
  apiKey: { readonly apiKey: ApiKeyRecord };
  user: { readonly actor: Actor };
  app: { readonly actor: Actor; readonly access: AppAccess };
  extensionPoint: { readonly actor: Actor; readonly access: ExtensionPointAccess };
  content: { readonly actor: Actor; readonly address: ContentAddress };
}

export type Admission<A extends Access = Access> = AdmissionByKind[A['kind']];

type PathParams<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : Path extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : object;

/** A call as a route's handler gets it: checked, parsed, and from somebody who may make it. */
export interface Call<A extends Access, Path extends string, Query extends TObject, Body> {
  readonly request: Request;
  readonly admission: Admission<A>;
  readonly params: PathParams<Path>;
  readonly query: Static<Query>;
  readonly body: Body;
  /** A moment before the caller was let in: what follows from that, and from what was read later, may be kept as from then. */
  readonly since: CacheVersion;
}

/** What a route answers when all goes well, for the description of the interface. */
export interface SuccessDoc {
  readonly description: string;
  readonly schema?: TSchema;
  /** For an answer that isn't JSON. */
  readonly contentType?: string;
  /** Header fields beside those that every answer has: name and what it says. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly example?: unknown;
  /** The JSON that is answered instead when the query asks for it. */
  readonly orJson?: { readonly schema: TSchema; readonly example: unknown };
}

/** A response with JSON. */
export function json(description: string, schema: TSchema, example: unknown, headers: SuccessDoc['headers'] = {}) {
  return { description, schema, example, headers };
}

/** A response with a list. */
export function jsonList(description: string, item: TSchema, example: unknown) {
  return json(description, listOf(item), { objects: [example] });
}

/** A route's page in the description of the interface. */
export interface RouteDoc {
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** By status; a reply has the lowest one unless the handler sets another. */
  readonly answers: Readonly<Record<number, SuccessDoc>>;
  /** Errors of its own, beside those that follow from its access, query and body. */
  readonly errors?: readonly ErrorCode[];
  /** Request header fields that it honours. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** What stands for the path's last segment when it is a wildcard. */
  readonly wildcard?: { readonly name: string; readonly description: string };
  readonly deprecated?: true;
}

/** A route without its method and path: who may call it, what it takes, what it does. */
interface RouteDeclaration<A extends Access, Path extends string, Query extends TObject, Body> {
  readonly access: A;
  readonly query?: Query;
  readonly body?: BodyReader<Body>;
  /** The area it belongs to: area B can be served alone. */
  readonly area?: 'distribution' | 'instrumentation' | 'both';
  /** The wildcard comes as it was sent: see {@link Request.rawWildcard}. */
  readonly rawWildcard?: true;
  /** Answers with pages for people: no problem documents, no cross-origin use. */
  readonly page?: true;
  /** How its errors are put, those of the router included; problem documents when nothing is said. */
  readonly errorForm?: ErrorForm;
  /** Its answers last, and have places that it counts by itself: see {@link Parts.places}. */
  readonly hasOwnPlaces?: true;
  readonly doc: RouteDoc;
  /** Header fields of every answer of the route, of its errors too. */
  readonly headers?: (parts: Parts) => Readonly<Record<string, string>>;
  /** What can be refused without the body. */
  readonly beforeBody?: (parts: Parts, call: Omit<Call<A, Path, Query, Body>, 'body'>) => void;
  readonly handle: (parts: Parts, call: Call<A, Path, Query, Body>, reply: Reply) => unknown;
}

/** A route of any kind, as the table of all of them holds it. */
export interface Route extends RouteDeclaration<Access, string, TObject, unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `:name` for a segment and `*` at the end for the rest. */
  readonly path: string;
}

/** Declares a route; the handler's types follow from the declaration. */
export function route<const A extends Access, const Path extends string, Query extends TObject, Body = undefined>(
  method: Route['method'],
  path: Path,
  declaration: RouteDeclaration<A, Path, Query, Body>,
): Route {
  return { method, path, ...declaration } as unknown as Route;
}
