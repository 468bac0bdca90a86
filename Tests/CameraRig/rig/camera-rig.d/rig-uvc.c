/* rig-uvc: a USB Video Class camera in software, for the kernel's uvcvideo.
 *
 *   rig-uvc auto W H FPS FOURCC HOLD STATEDIR FRAME...      (as rig-feed)
 *
 * It attaches to the kernel's vhci-hcd (the USB/IP virtual host controller)
 * through a socket pair and answers its USB requests itself: a high-speed
 * device with one format (MJPG, YUYV or NV12), one size, and a BULK streaming
 * endpoint.  When this process ends the kernel sees the cable being pulled.
 * (The other route, the kernel's f_uvc gadget on dummy_hcd, was not taken:
 * f_uvc streams isochronously, which dummy_hcd is not known to carry.)
 *
 * Protocol: linux/Documentation/usb/usbip_protocol.rst; UVC 1.0 descriptors.
 */
#include "rig-common.h"
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>

typedef unsigned char u8;
#define VHCI "/sys/devices/platform/vhci_hcd.0/"
#define LE16(v) (u8)(v), (u8)((v) >> 8)
#define LE32(v) LE16(v), (u8)((v) >> 16), (u8)((v) >> 24)

/* ---- USB/IP messages (all fields big-endian on the wire) ---------------- */
enum { CMD_SUBMIT = 1, CMD_UNLINK, RET_SUBMIT, RET_UNLINK };
struct pdu {
	uint32_t command, seqnum, devid, direction, ep;
	union {
		struct { uint32_t flags, length, start, packets, interval; u8 setup[8]; } submit;
		struct { uint32_t status, actual, start, packets, errors, pad[2]; } ret;
		struct { uint32_t seqnum, pad[6]; } unlink;
	};
};
static int sock;

static int read_all(void *buf, size_t n)
{
	for (char *p = buf; n;) {
		ssize_t r = read(sock, p, n);
		if (r < 0 && errno == EINTR) continue;
		if (r <= 0) return -1;
		p += r; n -= r;
	}
	return 0;
}
static void write_all(const void *buf, size_t n)
{
	for (const char *p = buf; n;) {
		ssize_t r = write(sock, p, n);
		if (r < 0 && errno == EINTR) continue;
		if (r <= 0) { quit = 1; return; }
		p += r; n -= r;
	}
}
static void reply(uint32_t seq, int status, const void *a, size_t na, const void *b, size_t nb, size_t actual)
{
	struct pdu r = { .command = htonl(RET_SUBMIT), .seqnum = htonl(seq) };
	r.ret.status = htonl(status);
	r.ret.actual = htonl(actual);
	write_all(&r, sizeof r);
	if (na) write_all(a, na);
	if (nb) write_all(b, nb);
}

/* ---- the device --------------------------------------------------------- */
static int W, H, FPS, mjpg;
static uint32_t max_frame, interval, payload;

static u8 device_desc[] = { 18, 1, LE16(0x0200), 0xef, 2, 1, 64, LE16(0x1d6b), LE16(0x0102), LE16(0x0100), 1, 2, 3, 1 };
static u8 config_desc[512];
static int config_len;

static void put(const u8 *d, int n) { memcpy(config_desc + config_len, d, n); config_len += n; }
#define PUT(...) do { const u8 d_[] = { __VA_ARGS__ }; put(d_, sizeof d_); } while (0)

/* Entities: 1 camera terminal -> 2 processing unit -> 3 output terminal. */
static void build_config(const char *cc)
{
	uint32_t slow = 10000000 / (FPS > 1 ? FPS / 2 : 1), rate = max_frame * 8 * FPS;
	PUT(9, 2, 0, 0, 2, 1, 0, 0x80, 250);			/* configuration; length below */
	PUT(8, 11, 0, 2, 14, 3, 0, 2);				/* interface association */
	PUT(9, 4, 0, 0, 0, 14, 1, 0, 2);			/* VideoControl interface */
	PUT(13, 0x24, 1, LE16(0x0100), LE16(13 + 18 + 11 + 9), LE32(48000000), 1, 1);
	PUT(18, 0x24, 2, 1, LE16(0x0201), 0, 0, LE16(0), LE16(0), LE16(0), 3, 0x2e, 0x00, 0x02);
	/* ^ controls: AE mode, AE priority, exposure time, focus (absolute), focus auto */
	PUT(11, 0x24, 5, 2, 1, LE16(0), 2, 0x03, 0x04, 0);	/* brightness, contrast, mains frequency */
	PUT(9, 0x24, 3, 3, LE16(0x0101), 0, 2, 0);
	PUT(9, 4, 1, 0, 1, 14, 2, 0, 0);			/* VideoStreaming interface */
	int head = config_len;
	PUT(14, 0x24, 1, 1, LE16(0), 0x81, 0, 3, 0, 0, 0, 1, 0);
	if (mjpg) {
		PUT(11, 0x24, 6, 1, 1, 1, 1, 0, 0, 0, 0);
	} else {
		int yuyv = !strcmp(cc, "YUYV");			/* its GUID is spelled "YUY2" */
		PUT(27, 0x24, 4, 1, 1, yuyv ? 'Y' : 'N', yuyv ? 'U' : 'V', yuyv ? 'Y' : '1', '2', 0, 0, 0x10, 0,
		    0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71, yuyv ? 16 : 12, 1, 0, 0, 0, 0);
	}
	PUT(34, 0x24, mjpg ? 7 : 5, 1, 0, LE16(W), LE16(H), LE32(rate / 2), LE32(rate), LE32(max_frame),
	    LE32(interval), 2, LE32(interval), LE32(slow));
	PUT(6, 0x24, 13, 1, 1, 4);				/* colour: BT.709, BT.601 */
	config_desc[head + 4] = (config_len - head) & 255;
	config_desc[head + 5] = (config_len - head) >> 8;
	PUT(7, 5, 0x81, 2, LE16(512), 0);			/* bulk IN endpoint 1 */
	config_desc[2] = config_len & 255;
	config_desc[3] = config_len >> 8;
}

/* Controls: {entity, selector, bytes, min, max, step, default, current}. */
static struct { u8 entity, sel, size; int min, max, step, def, cur; } controls[] = {
	{ 2, 0x02, 2, -64, 64, 1, 0, 0 },		/* brightness */
	{ 2, 0x03, 2, 0, 64, 1, 32, 32 },		/* contrast */
	{ 2, 0x05, 1, 0, 2, 1, 1, 0 },			/* mains frequency: off, 50 Hz, 60 Hz */
	{ 1, 0x02, 1, 1, 8, 9, 8, 8 },			/* AE mode: step = bitmap manual|aperture */
	{ 1, 0x03, 1, 0, 1, 1, 0, 1 },			/* AE priority: may it slow the frames down */
	{ 1, 0x04, 4, 1, 5000, 1, 157, 157 },		/* exposure time, 100 us */
	{ 1, 0x06, 2, 0, 250, 5, 0, 0 },		/* focus, absolute */
	{ 1, 0x08, 1, 0, 1, 1, 1, 1 },			/* focus, auto */
};

/* ---- streaming ---------------------------------------------------------- */
static struct { uint32_t seq, len; } queue[256];	/* waiting bulk IN requests */
static int queued;
static struct page *pages;
static int npages, page;
static double hold, due, stream_start;
static unsigned long frames, late;
static const u8 *data;					/* the frame being sent, or 0 */
static size_t size, sent;				/* sent counts the 2-byte header */
static u8 header[2] = { 2, 0x82 };			/* length; end of header + end of frame */

static void restart(void)
{
	data = 0;
	due = stream_start = now();
	frames = late = 0;
}

/* One payload per frame: header and picture over as many requests as it
 * takes; a short (perhaps empty) last one ends it. */
static void pump(void)
{
	while (queued && !quit) {
		if (!data) {
			if (now() < due) return;
			page = turn_page(page, npages, hold);
			data = pages[page].data;
			size = pages[page].size + 2;
			sent = 0;
			header[1] ^= 1;				/* frame ID toggles */
		}
		size_t len = queue[0].len, n = size - sent < len ? size - sent : len;
		size_t h = sent < 2 && n ? 2 - sent : 0;
		reply(queue[0].seq, 0, header + sent, h, data + (sent + h - 2), n - h, n);
		memmove(queue, queue + 1, --queued * sizeof *queue);
		sent += n;
		if (n < len) {
			data = 0;
			frames++;
			due += interval / 1e7;
			if (now() > due + interval / 1e7) { late++; due = now(); }
		}
	}
}

static int probe(u8 *b)					/* UVC 1.0 probe/commit block */
{
	const u8 p[26] = { 1, 0, 1, 1, LE32(interval), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			   LE32(max_frame), LE32(payload) };
	memcpy(b, p, 26);
	return 26;
}

static int text(u8 *b, const char *s)
{
	int n = strlen(s);
	b[0] = 2 + 2 * n; b[1] = 3;
	for (int i = 0; i < n; i++) { b[2 + 2 * i] = s[i]; b[3 + 2 * i] = 0; }
	return b[0];
}

/* A control request: fills b, returns its length, or -EPIPE (stall). */
static int control(const u8 *s, u8 *b)
{
	int type = s[0], req = s[1], lo = s[2], hi = s[3], unit = s[5], intf = s[4];
	int len = s[6] | s[7] << 8;
	if ((type & 0x60) == 0) {				/* standard */
		if (req == 6 && hi == 1) { memcpy(b, device_desc, 18); return 18; }
		if (req == 6 && hi == 2) { memcpy(b, config_desc, config_len); return config_len; }
		if (req == 6 && hi == 3) {
			if (lo == 0) { memcpy(b, "\4\3\11\4", 4); return 4; }
			return text(b, lo == 1 ? "camera-rig" : lo == 2 ? "Rig UVC camera" : "0001");
		}
		if (req == 0) { b[0] = b[1] = 0; return 2; }
		if (req == 8) { b[0] = 1; return 1; }
		if (req == 10) { b[0] = 0; return 1; }
		if (req == 1 || req == 3 || req == 9 || req == 11) return 0;
		return -EPIPE;
	}
	if ((type & 0x60) != 0x20) return -EPIPE;
	if (intf == 1 && (hi == 1 || hi == 2)) {		/* probe, commit */
		if (req == 0x01) {
			uint32_t want = b[4] | b[5] << 8 | b[6] << 16 | (uint32_t)b[7] << 24;
			uint32_t fast = 10000000 / FPS, slow = 10000000 / (FPS > 1 ? FPS / 2 : 1);
			if (len >= 8) interval = want > (fast + slow) / 2 ? slow : fast;
			if (hi == 2) restart();
			return 0;
		}
		if (req == 0x85) { b[0] = 26; b[1] = 0; return 2; }
		if (req == 0x86) { b[0] = 3; return 1; }
		return probe(b);
	}
	for (unsigned i = 0; intf == 0 && i < sizeof controls / sizeof *controls; i++) {
		if (controls[i].entity != unit || controls[i].sel != hi) continue;
		int v = 0;
		switch (req) {
		case 0x01:
			for (int k = 0; k < controls[i].size; k++) v |= b[k] << 8 * k;
			controls[i].cur = controls[i].size == 2 ? (int16_t)v : v;
			return 0;
		case 0x81: v = controls[i].cur; break;
		case 0x82: v = controls[i].min; break;
		case 0x83: v = controls[i].max; break;
		case 0x84: v = controls[i].step; break;
		case 0x85: b[0] = controls[i].size; b[1] = 0; return 2;
		case 0x86: b[0] = 3; return 1;
		case 0x87: v = controls[i].def; break;
		default: return -EPIPE;
		}
		for (int k = 0; k < controls[i].size; k++) b[k] = v >> 8 * k;
		return controls[i].size;
	}
	return -EPIPE;
}

/* Give one end of a socket pair to the host controller. */
static int attach(void)
{
	int sv[2], port = -1, p, st;
	char line[200], kind[8];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv)) { perror("socketpair"); return -1; }
	FILE *f = fopen(VHCI "status", "r");
	if (!f) { perror(VHCI "status"); return -1; }
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "%7s %d %d", kind, &p, &st) == 3 && !strcmp(kind, "hs") && st == 4) { port = p; break; }
	fclose(f);
	if (port < 0) { fprintf(stderr, "no free USB port\n"); return -1; }
	snprintf(line, sizeof line, "%d %d %d 3", port, sv[1], 0x10000 + port + 1);
	int fd = open(VHCI "attach", O_WRONLY);
	if (fd < 0 || write(fd, line, strlen(line)) < 0) { perror(VHCI "attach"); return -1; }
	close(fd);
	close(sv[1]);
	sock = sv[0];
	fprintf(stderr, "attached to port %d\n", port);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 9) { fprintf(stderr, "usage: see the source\n"); return 2; }
	const char *cc = argv[5], *state = argv[7];
	W = atoi(argv[2]); H = atoi(argv[3]); FPS = atoi(argv[4]);
	hold = atof(argv[6]);
	mjpg = !strcmp(cc, "MJPG");
	npages = argc - 8;
	pages = calloc(npages, sizeof *pages);
	for (int i = 0; i < npages; i++) {
		pages[i] = load(argv[8 + i]);
		if (pages[i].size > max_frame) max_frame = pages[i].size;
	}
	if (mjpg && max_frame < (uint32_t)W * H) max_frame = W * H;
	payload = max_frame + 2;
	interval = 10000000 / FPS;
	build_config(cc);
	catch_signals();
	if (attach()) return 1;
	note(state, "ready", "1");

	while (!quit) {
		pump();
		double wait = queued && !data ? due - now() : 1;
		struct pollfd pf = { sock, POLLIN, 0 };
		struct timespec ts = { wait > 0 ? (time_t)wait : 0, wait > 0 ? (long)((wait - (time_t)wait) * 1e9) : 0 };
		int r = ppoll(&pf, 1, &ts, 0);
		if (want_stats) give_stats(state, frames, frames ? now() - stream_start : 0, 1e7 / interval, late);
		if (r <= 0) continue;
		struct pdu m;
		static u8 buf[65536 + 64];
		if (read_all(&m, sizeof m)) break;
		uint32_t cmd = ntohl(m.command), seq = ntohl(m.seqnum);
		if (cmd == CMD_UNLINK) {
			int found = 0;
			for (int i = 0; i < queued; i++)
				if (queue[i].seq == ntohl(m.unlink.seqnum)) {
					memmove(queue + i, queue + i + 1, (--queued - i) * sizeof *queue);
					found = 1;
					break;
				}
			struct pdu u = { .command = htonl(RET_UNLINK), .seqnum = htonl(seq) };
			u.ret.status = htonl(found ? -ECONNRESET : 0);
			write_all(&u, sizeof u);
			continue;
		}
		if (cmd != CMD_SUBMIT) { fprintf(stderr, "unknown command %u\n", cmd); return 1; }
		uint32_t len = ntohl(m.submit.length);
		int in = ntohl(m.direction) == 1;
		if (!in && len && (len > 65536 || read_all(buf, len))) return 1;
		if (ntohl(m.ep) == 0) {
			int n = control(m.submit.setup, buf);
			if (n < 0) reply(seq, n, 0, 0, 0, 0, 0);
			else if (!in) reply(seq, 0, 0, 0, 0, 0, len);
			else { uint32_t k = (uint32_t)n < len ? (uint32_t)n : len; reply(seq, 0, buf, k, 0, 0, k); }
		} else if (in && queued < 256) {
			queue[queued].seq = seq;
			queue[queued++].len = len;
		} else {
			reply(seq, -EPIPE, 0, 0, 0, 0, 0);
		}
	}
	return 0;
}
