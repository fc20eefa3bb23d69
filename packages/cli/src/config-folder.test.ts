import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configFolder } from './config-folder.ts';

describe('configFolder()', () => {
  it("follows each platform's own ways", () => {
    assert.equal(configFolder({ HOME: '/home/ada' }, 'linux'), '/home/ada/.config/tenon');
    assert.equal(configFolder({ HOME: '/home/ada', XDG_CONFIG_HOME: '/etc/ada' }, 'freebsd'), '/etc/ada/tenon');
    assert.equal(configFolder({ HOME: '/Users/ada' }, 'darwin'), '/Users/ada/Library/Application Support/tenon');
    assert.equal(configFolder({ HOME: '/Users/ada', XDG_CONFIG_HOME: '/x' }, 'darwin'), '/x/tenon');
    assert.equal(configFolder({ APPDATA: 'C:\\Ada\\Roaming' }, 'win32'), 'C:\\Ada\\Roaming\\tenon');
    assert.equal(configFolder({ USERPROFILE: 'C:\\Ada' }, 'win32'), 'C:\\Ada\\AppData\\Roaming\\tenon');
  });

  it('lets TENON_CONFIG_DIR name it whole', () => {
    assert.equal(configFolder({ TENON_CONFIG_DIR: '/x', HOME: '/home/ada' }, 'linux'), '/x');
    assert.equal(configFolder({ TENON_CONFIG_DIR: '', HOME: '/home/ada' }, 'linux'), '/home/ada/.config/tenon');
  });

  it('passes over a relative XDG_CONFIG_HOME, as its specification demands', () => {
    assert.equal(configFolder({ HOME: '/home/ada', XDG_CONFIG_HOME: 'config' }, 'linux'), '/home/ada/.config/tenon');
  });

  it('finds none for a user without a home', () => {
    for (const platform of ['linux', 'darwin', 'win32'] as const) assert.equal(configFolder({}, platform), undefined);
  });
});
