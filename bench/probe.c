/* What the memory and the processor can do at most, in a few lines.

   cc -O3 -march=native -pthread bench/probe.c -o probe && ./probe THREADS MEGABYTES ROUNDS

   Prints one JSON line a round: bytes read a second from a buffer larger than any cache, and
   8-bit multiplications and additions a second on registers (0 where the processor has no
   instruction for them that this file knows). */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512VNNI__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#endif

enum { SUMS = 8, CHAINS = 12, STEPS = 20 * 1000 * 1000 };

struct slice { const uint64_t *data; size_t count; uint64_t sum; };

static void *read_all(void *given) {
    struct slice *slice = given;
    uint64_t sums[SUMS] = {0};
    for (size_t at = 0; at + SUMS <= slice->count; at += SUMS)
        for (int i = 0; i < SUMS; i++) sums[i] += slice->data[at + i];
    for (int i = 0; i < SUMS; i++) slice->sum += sums[i];
    return NULL;
}

/* Operations of one step of one chain: lanes * 4 products * 2. */
#if defined(__AVX512VNNI__)
#define LANE_OPS (16 * 4 * 2)
static void *multiply(void *given) {
    __m512i chains[CHAINS], left = _mm512_set1_epi8(3), right = _mm512_set1_epi8(5);
    for (int i = 0; i < CHAINS; i++) chains[i] = _mm512_set1_epi32(i);
    for (long step = 0; step < STEPS; step++)
        for (int i = 0; i < CHAINS; i++) chains[i] = _mm512_dpbusd_epi32(chains[i], left, right);
    for (int i = 1; i < CHAINS; i++) chains[0] = _mm512_add_epi32(chains[0], chains[i]);
    *(int *)given = _mm512_reduce_add_epi32(chains[0]);
    return NULL;
}
#elif defined(__AVX2__)
#define LANE_OPS (8 * 4 * 2)
static void *multiply(void *given) {
    __m256i chains[CHAINS], left = _mm256_set1_epi8(3), right = _mm256_set1_epi8(5);
    const __m256i ones = _mm256_set1_epi16(1);
    for (int i = 0; i < CHAINS; i++) chains[i] = _mm256_set1_epi32(i);
    for (long step = 0; step < STEPS; step++)
        for (int i = 0; i < CHAINS; i++) {
            __m256i pairs = _mm256_maddubs_epi16(left, right);
            __asm__ volatile("" : "+x"(pairs)); /* not to be computed once for all steps */
            chains[i] = _mm256_add_epi32(chains[i], _mm256_madd_epi16(pairs, ones));
        }
    for (int i = 1; i < CHAINS; i++) chains[0] = _mm256_add_epi32(chains[0], chains[i]);
    *(int *)given = _mm256_extract_epi32(chains[0], 0);
    return NULL;
}
#elif defined(__ARM_FEATURE_DOTPROD)
#define LANE_OPS (4 * 4 * 2)
static void *multiply(void *given) {
    int32x4_t chains[CHAINS];
    const int8x16_t left = vdupq_n_s8(3), right = vdupq_n_s8(5);
    for (int i = 0; i < CHAINS; i++) chains[i] = vdupq_n_s32(i);
    for (long step = 0; step < STEPS; step++)
        for (int i = 0; i < CHAINS; i++) chains[i] = vdotq_s32(chains[i], left, right);
    for (int i = 1; i < CHAINS; i++) chains[0] = vaddq_s32(chains[0], chains[i]);
    *(int *)given = vaddvq_s32(chains[0]);
    return NULL;
}
#else
#define LANE_OPS 0
static void *multiply(void *given) { return given; }
#endif

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double run_all(void *(*work)(void *), char *given, size_t size, int threads) {
    pthread_t running[256];
    double started = now();
    for (int i = 0; i < threads; i++) pthread_create(&running[i], NULL, work, given + i * size);
    for (int i = 0; i < threads; i++) pthread_join(running[i], NULL);
    return now() - started;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    int threads = atoi(arguments[1]), rounds = atoi(arguments[3]);
    size_t bytes = (size_t)atoi(arguments[2]) << 20;
    if (threads < 1 || threads > 256) return 2;
    uint64_t *data = malloc(bytes);
    if (!data) return 1;
    memset(data, 1, bytes);
    struct slice slices[256];
    int results[256];
    size_t each = bytes / sizeof *data / threads;
    for (int i = 0; i < threads; i++) slices[i] = (struct slice){data + i * each, each, 0};
    for (int round = 0; round < rounds; round++) {
        double read_s = run_all(read_all, (char *)slices, sizeof *slices, threads);
        double count_s = run_all(multiply, (char *)results, sizeof *results, threads);
        double ops = (double)LANE_OPS * CHAINS * STEPS * threads;
        printf("{\"read_bytes_per_s\": %.6g, \"int8_ops_per_s\": %.6g, \"check\": %d}\n",
               each * sizeof *data * (double)threads / read_s, ops / count_s,
               (int)(slices[0].sum + results[0]));
        fflush(stdout);
    }
    free(data);
    return 0;
}
