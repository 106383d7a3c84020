import { describe, expect, it } from '@jest/globals';
import { requireSupportedNode } from './supported-node.js';

describe('the library', () => {
  it.each(['18.20.8', '20.18.3', '21.7.3', '22.11.0'])(
    'says on Node.js %s which versions it needs, without a stack trace',
    (version) => {
      const message = `nestjs-session-auth needs Node.js 20.19, 22.12, 24 or later. This is Node.js ${version}.`;
      expect(() => requireSupportedNode(version)).toThrow(
        expect.objectContaining({ message, stack: message }),
      );
    },
  );

  it.each(['20.19.0', '22.12.0', '23.11.0', '24.0.0'])('loads on Node.js %s', (version) => {
    expect(() => requireSupportedNode(version)).not.toThrow();
  });
});
