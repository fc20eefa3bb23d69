/** What a page in a browser takes of the protocol at run time: nothing here brings the schemas' library with it. */

export * from './audit-actions.ts';
export * from './binding-target.ts';
export * from './login.ts';
export * from './names.ts';
export * from './password-length.ts';
