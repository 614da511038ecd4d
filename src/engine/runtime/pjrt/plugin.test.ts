import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../data/records/testing/temporary-folder.js";
import { findPlugins, isUnsafePassOff, userFlags, withoutUnsafePass } from "./plugin.js";

async function touch(...parts: string[]): Promise<string> {
	const path = join(...parts);
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, "");
	return path;
}

test("a plugin that a variable names is the only one", () => {
	expect(findPlugins({ TRAJGPT_PJRT_PLUGIN: "/mine.so", VIRTUAL_ENV: "/x" })).toEqual({
		plugins: [{ path: "/mine.so", from: "TRAJGPT_PJRT_PLUGIN", libraries: [] }],
		searched: ["TRAJGPT_PJRT_PLUGIN"],
	});
	const { plugins } = findPlugins({
		PJRT_NAMES_AND_LIBRARY_PATHS: "cuda:/a.so,other:/b.so",
	});
	expect(plugins.map(({ path }) => path)).toEqual(["/a.so", "/b.so"]);
});

test("finds plugins of Python's packages with their libraries, the newest first", async () => {
	const prefix = await temporaryFolder();
	const site = join(prefix, "lib", "python3.12", "site-packages");
	const folder = join(site, "jax_plugins");
	const cuda12 = await touch(folder, "xla_cuda12", "xla_cuda_plugin.so");
	const cuda13 = await touch(folder, "xla_cuda13", "xla_cuda_plugin.so");
	const rocm = await touch(folder, "xla_rocm7", "xla_rocm_plugin.so");
	const tpu = await touch(site, "libtpu", "libtpu.so");
	await touch(folder, "xla_cuda14", "README");
	const nvidia = join(site, "nvidia");
	const libraries = [
		await touch(nvidia, "cu13", "lib", "libcublas.so.13"),
		await touch(nvidia, "cu13", "lib", "libnvJitLink.so.13"),
		await touch(nvidia, "cudnn", "lib", "libcudnn_graph.so.9"),
	];
	await touch(nvidia, "cu13", "lib", "libnvblas.so.13");
	await touch(nvidia, "cu13", "include", "cublas.h");
	const { plugins, searched } = findPlugins({ VIRTUAL_ENV: prefix, HOME: prefix });
	const own = plugins.filter(({ from }) => from === site);
	expect(own.map(({ path }) => path)).toEqual([cuda13, cuda12, rocm, tpu]);
	expect(own.map((plugin) => plugin.libraries)).toEqual([libraries, libraries, [], []]);
	expect(searched.slice(0, 3)).toEqual([
		...["TRAJGPT_PJRT_PLUGIN", "PJRT_NAMES_AND_LIBRARY_PATHS", site],
	]);
});

test("looks where python3 on PATH is installed, through links", async () => {
	const folder = await temporaryFolder();
	const python = await touch(folder, "installed", "bin", "python3.11");
	const bin = join(folder, "links", "bin");
	await mkdir(bin, { recursive: true });
	await symlink(python, join(bin, "python3"));
	const plugin = await touch(folder, "installed/lib/python3.11/dist-packages/libtpu/libtpu.so");
	const { plugins } = findPlugins({ PATH: `/nowhere:${bin}`, HOME: folder });
	expect(plugins.map(({ path }) => path)).toContain(plugin);
});

const ours = "--xla_disable_hlo_passes=triton-softmax-rewriter";

test.each([
	["", ours],
	[" ", ours],
	[ours, ours],
	["--xla_gpu_autotune_level=0", `${ours} --xla_gpu_autotune_level=0`],
	// XLA adds up the passes of several such flags.
	["--xla_disable_hlo_passes=dce", `${ours} --xla_disable_hlo_passes=dce`],
	// XLA reads nothing after a word without a dash, and takes all that follows an open quote for one value.
	["--xla_dump_to=a b", `${ours} --xla_dump_to=a b`],
	['--xla_dump_to="a', `${ours} --xla_dump_to="a`],
])("of %j, the unsafe pass is switched off", (given, expected) => {
	expect(withoutUnsafePass(given)).toBe(expected);
	expect(isUnsafePassOff(expected)).toBe(true);
});

test.each([
	"--xla_dump_to=d --xla_disable_hlo_passes=",
	"--xla_disable_hlo_passes= --xla_dump_to=d",
	"--xla_enable_hlo_passes_only=dce",
	"/etc/xla-flags",
])("%j stays as it is", (given) => {
	expect(withoutUnsafePass(given)).toBe(given);
	expect(isUnsafePassOff(given)).toBe(false);
});

test("other programs get what the user has set", () => {
	for (const given of ["", "--xla_gpu_autotune_level=0", "/etc/xla-flags"])
		expect(userFlags(withoutUnsafePass(given))).toBe(given);
});
