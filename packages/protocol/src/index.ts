/** What goes over Tenon's wire: ids, names, JSON schemas with their static types, error codes. No I/O. */
export * from './accounts.ts';
export * from './audit.ts';
export * from './audit-actions.ts';
export * from './binding-target.ts';
export * from './error-codes.ts';
export * from './ids.ts';
export * from './instrumentation.ts';
export * from './login.ts';
export * from './names.ts';
export * from './news.ts';
export * from './oauth.ts';
export * from './password-length.ts';
export * from './schema-trial.ts';
export * from './schemas.ts';
export * from './secrets.ts';
export * from './status.ts';
export * from './versions.ts';
