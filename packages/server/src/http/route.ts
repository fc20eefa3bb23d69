import { type ContentAddress, type ErrorCode, listOf, type TokenScope } from '@tenon/protocol';
import type { Static, TObject, TSchema } from 'typebox';
import type { CacheVersion } from '../cache/invalidation-log.ts';
import type { ApiKeyRecord, SessionRecord } from '../db/records.ts';
import type { Actor, AppAccess, ExtensionPointAccess, PermissionName, Services } from '../services.ts';
import type { BodyReader } from './bodies/body-reader.ts';
import type { ErrorFormat } from './http-error.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';

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
interface AuthContextByKind {
  public: object;
  ownOrigin: object;
  session: { readonly session: SessionRecord };
  apiKey: { readonly apiKey: ApiKeyRecord };
  user: { readonly actor: Actor };
  app: { readonly actor: Actor; readonly access: AppAccess };
  extensionPoint: { readonly actor: Actor; readonly access: ExtensionPointAccess };
  content: { readonly actor: Actor; readonly address: ContentAddress };
}

export type AuthContext<A extends Access = Access> = AuthContextByKind[A['kind']];

type PathParams<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : Path extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : object;

/** A call as a route's handler gets it: checked, parsed, and from somebody who may make it. */
export interface Call<A extends Access, Path extends string, Query extends TObject, Body> {
  readonly request: Request;
  readonly auth: AuthContext<A>;
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

export function json(description: string, schema: TSchema, example: unknown, headers: SuccessDoc['headers'] = {}) {
  return { description, schema, example, headers };
}

export function jsonList(description: string, item: TSchema, example: unknown) {
  return json(description, listOf(item), { objects: [example] });
}

/** The tags of the OpenAPI description, with their descriptions. */
export const tags = {
  Distribution: 'for hosts: list the plugins bound to a guest key, and fetch their bytes',
  Plugins: 'publish, read, and delete plugins',
  Versions: "a plugin's versions: list, roll back, yank, restore, approve",
  'Host control': "the application's decisions: pin bindings, block plugins, end withdrawals",
  Applications: 'applications and their members',
  'Extension points': "an application's extension points and their schemas",
  Guests: "an application's guests and their invitations",
  Invitations: 'accept or decline an invitation',
  'Tokens and keys': 'access tokens for the API, and API keys for instrumentation',
  Account: 'your account and its browser sessions',
  'Browser session': "sign-in for the console's pages; requests from other origins are rejected",
  'Command-line login': 'OAuth 2.0: a program gets an access token that a person approves',
  Instrumentation: 'add tracing to a module',
  Operation: "the server's health, status, and API description",
  Pages: 'pages for browsers',
} as const;
export type Tag = keyof typeof tags;

/** The part of a declaration that only describes the route, for OpenAPI. */
export interface RouteDoc {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** By status; a reply has the lowest one unless the handler sets another. */
  readonly responses: Readonly<Record<number, SuccessDoc>>;
  /** Errors of its own, beside those that follow from its access, query and body. */
  readonly errors?: readonly ErrorCode[];
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** What stands for the path's last segment when it is a wildcard. */
  readonly wildcard?: { readonly name: string; readonly description: string };
}

/** A route without its method and path: who may call it, what it takes, what it does. */
interface RouteDeclaration<A extends Access, Path extends string, Query extends TObject, Body> extends RouteDoc {
  readonly access: A;
  readonly query?: Query;
  readonly body?: BodyReader<Body> | undefined;
  /** The area it belongs to: area B can be served alone. */
  readonly area?: 'distribution' | 'instrumentation' | 'both';
  /** The wildcard comes as it was sent: see {@link Request.rawWildcard}. */
  readonly rawWildcard?: true;
  /** Answers with pages for people: no problem documents, no cross-origin use. */
  readonly page?: true;
  /** How its errors are put, those of the router included; problem documents when nothing is said. */
  readonly errorFormat?: ErrorFormat;
  /** Its answers last, and have places that it counts by itself: see {@link Parts.places}. */
  readonly hasOwnLimit?: true;
  /** Header fields of every answer of the route, of its errors too. */
  readonly headers?: (services: Services) => Readonly<Record<string, string>>;
  /** What can be refused without the body. */
  readonly beforeBody?: (services: Services, call: Omit<Call<A, Path, Query, Body>, 'body'>) => void;
  readonly handle: (services: Services, call: Call<A, Path, Query, Body>, reply: Reply) => unknown;
}

/** A route of any kind, as the table of all of them holds it. */
export interface Route extends RouteDeclaration<Access, string, TObject, unknown> {
  readonly tag: Tag;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `:name` for a segment and `*` at the end for the rest. */
  readonly path: string;
}

/** Returns a function that declares routes with this tag. The types of a handler follow from the declaration. */
export function routeTagged(tag: Tag) {
  return <const A extends Access, const Path extends string, Query extends TObject, Body = undefined>(
    method: Route['method'],
    path: Path,
    declaration: RouteDeclaration<A, Path, Query, Body>,
  ): Route => ({ tag, method, path, ...declaration }) as unknown as Route;
}
