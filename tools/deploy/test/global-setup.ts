import { checkRequirements, whyFails } from '@animal-store/test-kit/not-run';
import { whyNoImage } from './programs.ts';

export default checkRequirements({
  image: {
    tests: 'the tests of the container image in tools/deploy',
    whyMissing: whyNoImage,
    remedy: 'To run them, start Docker.',
  },
  promtool: {
    tests: 'the tests of the alerts in tools/deploy',
    whyMissing: () => whyFails('promtool --version'),
    remedy: "To run them, install Debian's package prometheus.",
  },
  haproxy: {
    tests: 'the test of the proxy of the path in tools/deploy',
    whyMissing: () => whyFails('haproxy -v'),
    remedy: "To run it, install Debian's package haproxy.",
  },
  systemd: {
    tests: 'the tests of the systemd unit in tools/deploy',
    whyMissing: () => whyFails('systemd-analyze --version'),
    remedy: "To run them, install Debian's package systemd.",
  },
});
