import type { Names } from './acme.ts';

/** Names as a team would choose them. */
export const acmeNames: Names = {
  owner: 'Olivia Chen',
  admin: 'Marcus Weber',
  viewer: 'Priya Raman',
  guest: 'Gustav Lindqvist',
  otherOwner: 'Noor Haddad',
  app: 'Acme Spreadsheet',
  otherApps: ['Acme Mail', 'Acme Forms (beta)'],
  foreignApp: 'Northwind CRM',
  extensionPoint: 'Cell functions',
  otherExtensionPoints: ['Importers'],
  description: "Computes a cell's value from the arguments in its formula.",
  property: 'arguments',
  propertyDescription: 'In the order in which they stand in the formula. A range comes row by row.',
  guestKey: 'customers/globex',
  otherGuestKeys: ['customers/initech', 'customers/umbrella', 'customers/hooli'],
  guestLabel: 'Globex',
  guestNote: 'Pays by invoice. Ask Ingrid before blocking a plugin.',
  noteName: 'Ingrid Solberg',
  noteEmail: 'ingrid@globex.example',
  token: 'spreadsheet host',
  otherToken: 'build server',
  apiKey: 'release build',
};
