import { describe, expect, test } from 'vitest';
import { checkFileSystem } from './place.ts';

describe('checkFileSystem', () => {
  test.each([
    ['NFS', 0x6969],
    ['SMB', 0xff534d42],
    ['Ceph', 0x00c36400],
  ])('rejects %s', (name, type) => {
    expect(() => checkFileSystem(type)).toThrow(`it is on a network (${name}): put it on a local disk`);
  });

  test.each([
    ['ext4', 0xef53],
    ['XFS', 0x58465342],
    ['Btrfs', 0x9123683e],
    ['ZFS', 0x2fc12fc1],
    ['overlay', 0x794c7630],
    ['tmpfs', 0x01021994],
    ['an unknown one', 0],
  ])('accepts %s', (_, type) => {
    expect(() => checkFileSystem(type)).not.toThrow();
  });
});
